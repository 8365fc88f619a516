import { isStream, type Operation, type Parameter } from '../contract/openapi.ts';
import { toJson } from '../json/to-json.ts';

/** How to call each operation with the client library. */
export const CLIENT_LINES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  v1: {
    listOrders: 'for await (const order of store.v1.listOrders()) console.log(order.id);',
    cancelOrder: 'await store.v1.cancelOrder(orderId);',
    getPet: 'const pet = await store.v1.getPet(petId);',
  },
  v2: {
    listOrders:
      "for await (const order of store.orders({ status: 'pending' })) console.log(order.id);",
    placeOrder: 'const order = await store.placeOrder({ petId, quantity: 1n });',
    getOrder: 'const order = await store.getOrder(orderId);',
    getOrderHistory: 'const { events } = await store.getOrderHistory(orderId);',
    cancelOrder: 'const order = await store.cancelOrder(orderId);',
    shipOrder: 'const order = await store.shipOrder(orderId);',
    cancelOrders: 'const results = await store.cancelOrders([orderId, otherId]);',
    shipOrders: 'const results = await store.shipOrders([orderId, otherId], { atomic: true });',
    listChanges: 'const { changes, next } = await store.listChanges({ after });',
    streamChanges:
      "for await (const { changes, cursor } of store.changes({ after: 'start' })) console.log(changes);",
    countOrders: 'const { orders, isExact } = await store.countOrders({ petId });',
    getSummary: 'const { orders } = await store.getSummary();',
    listWebhooks: 'const webhooks = await store.listWebhooks();',
    createWebhook:
      "const { webhook, secret } = await store.createWebhook({ url, after: 'start' });",
    getWebhook: 'const { state, lag } = await store.getWebhook(webhookId);',
    updateWebhook: "const webhook = await store.updateWebhook(webhookId, { state: 'paused' });",
    deleteWebhook: 'await store.deleteWebhook(webhookId);',
    rotateWebhookSecret: 'const { secret } = await store.rotateWebhookSecret(webhookId);',
    testWebhook: 'const { accepted } = await store.testWebhook(webhookId);',
    getKey: 'const { name, scopes } = await store.getKey();',
    getActivity: 'const { periods } = await store.getActivity([yesterday, today, tomorrow]);',
  },
};

/** The variables of the environment that a sample needs besides KEY: ids, so that a copied line changes no order by accident. */
function variablesIn(operation: Operation, url: string): string[] {
  const inPath = [...url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const hasIds = ID.test(toJson(bodyOf(operation)) ?? '');
  return hasIds ? [...inPath, 'orderId'] : inPath;
}

const ID = /"id":\s*-?\d+/;
const IDS = new RegExp(ID, 'g');

/** The example of a body that is required. */
const bodyOf = ({ requestBody }: Operation): unknown =>
  requestBody?.required === true ? requestBody.content['application/json']?.example : undefined;

/** The example of a body as the forms begin with it: an optional one is empty, and so are ids. */
export function bodyToEdit(operation: Operation): string {
  const body = bodyOf(operation);
  return body === undefined ? '' : toJson(body, 2).replaceAll(IDS, '"id": ');
}

/** Returns the target of a call, with the query parameters that are required. */
function targetOf(path: string, parameters: readonly Parameter[]): string {
  const query = parameters
    .filter((each) => each.in === 'query' && each.required === true)
    .map(({ name, example }) => `${name}=${example}`);
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

const isKeyed = (parameters: readonly Parameter[]) =>
  parameters.some(({ name }) => name === 'Idempotency-Key');

/** Returns a call with curl. */
export function curlLine(
  operation: Operation,
  parameters: readonly Parameter[],
  { method, url }: { readonly method: string; readonly url: string },
): string {
  const variables = variablesIn(operation, url);
  const body = bodyOf(operation);
  const path = url.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name}`);
  const json = body === undefined ? '' : toJson(body).replaceAll(IDS, `"id":'$orderId'`);
  const call = [
    `curl ${isStream(operation) ? '--no-buffer ' : ''}${method === 'get' ? '' : `--request ${method.toUpperCase()} `}"${targetOf(path, parameters)}"`,
    '--header "Authorization: Bearer $KEY"',
    isKeyed(parameters) && '--header "Idempotency-Key: $(uuidgen)"',
    body !== undefined && `--header "Content-Type: application/json" \\\n  --data '${json}'`,
  ]
    .filter(Boolean)
    .join(' \\\n  ');
  const exports = variables.map((name) => `export ${name}=…\n`).join('');
  return exports + call;
}

/** Returns a call with the standard library of Python, whose integers are exact. */
export function pythonLines(
  operation: Operation,
  parameters: readonly Parameter[],
  { method, url }: { readonly method: string; readonly url: string },
): string {
  const variables = variablesIn(operation, url);
  const body = bodyOf(operation);
  const path = url.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{${snakeCase(name)}}`);
  const imports = ['json', 'os', 'urllib.request', ...(isKeyed(parameters) ? ['uuid'] : [])];
  return [
    `import ${imports.join(', ')}`,
    '',
    ...variables.map((name) => `${snakeCase(name)} = ...`),
    ...(body === undefined ? [] : [`body = ${pythonValue(body)}`]),
    'request = urllib.request.Request(',
    `    ${path === url ? '' : 'f'}"${targetOf(path, parameters)}",`,
    ...(method === 'get' ? [] : [`    method="${method.toUpperCase()}",`]),
    ...(body === undefined ? [] : ['    data=json.dumps(body).encode(),']),
    '    headers={',
    '        "Authorization": "Bearer " + os.environ["KEY"],',
    ...(isKeyed(parameters) ? ['        "Idempotency-Key": str(uuid.uuid4()),'] : []),
    ...(body === undefined ? [] : ['        "Content-Type": "application/json",']),
    '    },',
    ')',
    'with urllib.request.urlopen(request) as response:',
    isStream(operation)
      ? '    for line in response:\n        print(line.decode(), end="")'
      : '204' in operation.responses
        ? '    print(response.status)'
        : '    print(json.load(response))',
  ].join('\n');
}

/** JSON as a literal of Python, whose strings have the same escapes. */
function pythonValue(value: unknown): string {
  const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
  return toJson(value)
    .replaceAll(IDS, '"id": order_id')
    .replaceAll(/"(?:[^"\\]|\\.)*"|true|false|null/g, (token) => words[token] ?? token);
}

/** orderId -> order_id */
const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
