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

/** Returns a call with curl. Ids are shell variables, so that a copied line does not change an order by accident. */
export function curlLine(
  operation: Operation,
  parameters: readonly Parameter[],
  { method, url }: { readonly method: string; readonly url: string },
): string {
  const isKeyed = parameters.some(({ name }) => name === 'Idempotency-Key');
  const media = operation.requestBody?.content['application/json'];
  const path = url.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${name}`);
  const query = parameters
    .filter((each) => each.in === 'query' && each.required === true)
    .map(({ name, example }) => `${name}=${example}`);
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
  return [
    `curl ${isStream(operation) ? '--no-buffer ' : ''}${method === 'get' ? '' : `--request ${method.toUpperCase()} `}"${target}"`,
    '--header "Authorization: Bearer $KEY"',
    isKeyed && '--header "Idempotency-Key: $(uuidgen)"',
    operation.requestBody?.required &&
      `--header "Content-Type: application/json" \\\n  --data '${toJson(media?.example)}'`,
  ]
    .filter(Boolean)
    .join(' \\\n  ');
}

/** Returns a call with the standard library of Python, whose integers are exact. */
export function pythonLines(
  operation: Operation,
  parameters: readonly Parameter[],
  { method, url }: { readonly method: string; readonly url: string },
): string {
  const isKeyed = parameters.some(({ name }) => name === 'Idempotency-Key');
  const media = operation.requestBody?.content['application/json'];
  const isBody = operation.requestBody?.required === true;
  const path = url.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{${snakeCase(name)}}`);
  const query = parameters
    .filter((each) => each.in === 'query' && each.required === true)
    .map(({ name, example }) => `${name}=${example}`);
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
  const imports = ['json', 'os', 'urllib.request', ...(isKeyed ? ['uuid'] : [])];
  return [
    `import ${imports.join(', ')}`,
    '',
    'request = urllib.request.Request(',
    `    ${path === url ? '' : 'f'}"${target}",`,
    ...(method === 'get' ? [] : [`    method="${method.toUpperCase()}",`]),
    ...(isBody ? [`    data=b'${toJson(media?.example)}',`] : []),
    '    headers={',
    '        "Authorization": "Bearer " + os.environ["KEY"],',
    ...(isKeyed ? ['        "Idempotency-Key": str(uuid.uuid4()),'] : []),
    ...(isBody ? ['        "Content-Type": "application/json",'] : []),
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

/** orderId -> order_id */
const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
