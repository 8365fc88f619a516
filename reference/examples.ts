import { toJson } from '../protocol/exact-json.ts';
import { isStream, type Operation, type Parameter } from '../protocol/openapi.ts';

/** How to call each operation with the client library; a call is an expression, whose value is printed, or a loop. */
const CLIENT_CALLS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  v1: {
    listOrders: 'for await (const order of store.v1.listOrders())',
    cancelOrder: 'store.v1.cancelOrder(orderId)',
    getPet: 'store.v1.getPet(petId)',
  },
  v2: {
    listOrders: 'for await (const order of store.orders())',
    findOrders: "store.findOrders({ ids: [orderId], references: ['PO-2026-0815'] })",
    placeOrder:
      "store.placeOrder({ petId, quantity: 1n, shipDate: '2026-12-01T09:30:00Z', reference: 'PO-2026-0815' })",
    getOrder: 'store.getOrder(orderId)',
    getOrderHistory: 'store.getOrderHistory(orderId)',
    cancelOrder: "store.cancelOrder(orderId, { reason: 'customer_request' })",
    shipOrder: "store.shipOrder(orderId, { trackingNumber: '00340434161094042557' })",
    cancelOrders: 'store.cancelOrders([orderId, otherId])',
    shipOrders: 'store.shipOrders([orderId, otherId], { atomic: true })',
    listChanges: 'store.listChanges({ after })',
    streamChanges: "for await (const { changes } of store.changes({ after: 'start' }))",
    countOrders: 'store.countOrders({ petId })',
    getStore: 'store.getStore()',
    listWebhooks: 'store.listWebhooks()',
    createWebhook:
      "store.createWebhook({ url, description: 'web front end', types: ['cancelled', 'shipped'] })",
    getWebhook: 'store.getWebhook(webhookId)',
    updateWebhook: "store.updateWebhook(webhookId, { state: 'paused' })",
    deleteWebhook: 'store.deleteWebhook(webhookId)',
    rotateWebhookSecret: 'store.rotateWebhookSecret(webhookId)',
    testWebhook: 'store.testWebhook(webhookId)',
    getKey: 'store.getKey()',
    listKeys: 'store.listKeys()',
    createKey: "store.createKey({ name: 'web shop', scopes: ['orders:read', 'orders:place'] })",
    getKeyById: 'store.getKeyById(keyId)',
    updateKey: "store.updateKey(keyId, { expiresAt: '2027-11-23T08:00:00Z' })",
    rotateKey: 'store.rotateKey(keyId)',
    revokeKey: 'store.revokeKey(keyId)',
    redeemInvitation: 'store.redeemInvitation()',
    getActivity: 'store.getActivity([new Date(now - 86_400_000), new Date(now)])',
  },
};

/** How samples in JavaScript declare variables. Ids come from the environment, so that a copied sample changes no order by accident. */
const DECLARATIONS: Readonly<Record<string, string>> = {
  orderId: 'const orderId = BigInt(process.env.orderId);',
  otherId: 'const otherId = BigInt(process.env.otherId);',
  petId: 'const petId = 412n;',
  url: "const url = 'https://shop.example/hooks/orders';",
  webhookId: 'const webhookId = process.env.webhookId;',
  keyId: 'const keyId = process.env.keyId;',
  after: "const after = 'start';",
  now: 'const now = Date.now();',
};

/** An operation, as samples call it. */
export interface Sampled {
  readonly operation: Operation;
  readonly parameters: readonly Parameter[];
  readonly version: string;
  readonly method: string;
  /** Of the service, such as https://api.store.example */
  readonly rootUrl: string;
  /** Relative to the version: /store/orders/{orderId} */
  readonly path: string;
}

/** Returns a call with the client library, with its imports and variables. */
export function clientLines(sampled: Sampled): string {
  const { operation, version, rootUrl } = sampled;
  const call = CLIENT_CALLS[version]![operation.operationId]!;
  const [, item] = /^for await \(const (?:\{ )?(\w+)/.exec(call) ?? [];
  const lines = call.replace(
    /(?<=\{) (.*) (?=\})/,
    (fields) => `\n   ${fields.replaceAll(/, (?=[a-z])/g, ',\n    ').trimEnd()},\n  `,
  );
  const printed =
    item === undefined
      ? call.length > MAX_LINE
        ? `  const answer = await ${lines};\n  console.dir(answer, { depth: null });`
        : `  console.dir(await ${call}, { depth: null });`
      : `  ${call} {\n    console.dir(${item}, { depth: null });\n  }`;
  const declared = Object.entries(DECLARATIONS)
    .filter(([name]) => new RegExp(`(?<![.\\w])${name}\\b`).test(call))
    .map(([, line]) => `${line}\n`);
  return `// npm install @store-orders/client
import { StoreOrders, StoreOrdersError } from '@store-orders/client';
const store = new StoreOrders({
  baseUrl: '${rootUrl}',
  apiKey: process.env.KEY,
});

${declared.join('')}${pagesLine(sampled, '//', operation.operationId !== 'getOrderHistory')}try {
${printed}
} catch (error) {
  // The message has the status and the code, too.
  console.error(error instanceof StoreOrdersError ? error.message : error);
  process.exitCode = 1;
}`;
}

/** The variables for the ids in the example of a body, in order. */
const IDS_IN_BODY = ['orderId', 'otherId'] as const;

/** The variables of the environment that a sample needs besides KEY: ids, so that a copied sample changes no order by accident. */
function variablesIn({ operation, path }: Sampled): string[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const inBody = toJson(bodyOf(operation))?.match(ORDER)?.length ?? 0;
  return [...inPath, ...IDS_IN_BODY.slice(0, inBody)];
}

/** Longer bodies and calls are broken into lines. */
const MAX_LINE = 60;

/** An order in a body, with conditions that only the example's order meets. */
const ORDER = /\{\s*"id":[^}]*\}/g;

/** Returns the example of a body, without times that would be recorded as they are; undefined if there is none. */
function bodyOf({ requestBody }: Operation): unknown {
  const example = requestBody?.content['application/json']?.example as object | undefined;
  if (example === undefined) return undefined;
  return Object.fromEntries(Object.entries(example).filter(([name]) => name !== 'shippedAt'));
}

/** Returns the text of a body whose orders are variables. @param idOf writes the variable in the language of the sample */
function bodyText(body: unknown, idOf: (name: string) => string): string {
  const line = toJson(body);
  const text = line.length > MAX_LINE ? toJson(body, 2) : line;
  let index = 0;
  return text.replaceAll(ORDER, () => `{"id":${idOf(IDS_IN_BODY[index++]!)}}`);
}

/** Returns the body that a form begins with: the example without ids; empty if the body is optional. */
export function bodyToEdit(operation: Operation): string {
  if (operation.requestBody?.required !== true) return '';
  return toJson(bodyOf(operation), 2).replaceAll(ORDER, '{ "id":  }');
}

/** Returns the URL of a call, with the query parameters that are required. @param idOf writes the variable in the language of the sample */
function targetOf(
  { rootUrl, version, path, parameters }: Sampled,
  idOf: (name: string) => string,
): string {
  const query = parameters
    .filter((each) => each.in === 'query' && each.required === true)
    .map(({ name, example }) => `${name}=${example}`);
  const url = `${rootUrl}/${version}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => idOf(name))}`;
  return query.length === 0 ? url : `${url}?${query.join('&')}`;
}

const isKeyed = (parameters: readonly Parameter[]) =>
  parameters.some(({ name }) => name === 'Idempotency-Key');
/** Says how much of a list a sample reads; nothing for what comes as a whole. @param mark begins a comment */
const pagesLine = ({ parameters }: Sampled, mark: string, isAll = false): string =>
  parameters.some(({ name }) => name === 'cursor')
    ? `${mark} ${isAll ? 'Reads all pages.' : 'Reads one page: repeat with its "next" as cursor, until there is none.'}\n`
    : '';

/** 32 hexadecimal digits, with commands of POSIX. In a line of its own, so that a repeated call has the same key. */
const RANDOM_IN_SHELL = "$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')";

/** A variable of the environment: without it, the command ends before it sends anything. */
const inShell = (name: string): string => `\${${name}:?}`;

/** Names the variables that a sample needs; it runs as it is. */
const environmentLine = (variables: readonly string[]): string =>
  `# The environment has ${['KEY', ...variables].join(', ').replace(/, (\w+)$/, ' and $1')}.\n`;

/** Returns a call with curl. */
export function curlLine(sampled: Sampled): string {
  const { operation, parameters, method } = sampled;
  const variables = variablesIn(sampled);
  const body = bodyOf(operation);
  const json = body === undefined ? '' : bodyText(body, (name) => `'"${inShell(name)}"'`);
  const call = [
    `curl ${isStream(operation) ? '--no-buffer ' : ''}${method === 'get' ? '' : `--request ${method.toUpperCase()} `}"${targetOf(sampled, inShell)}"`,
    `--header "Authorization: Bearer ${inShell('KEY')}"`,
    isKeyed(parameters) && '--header "Idempotency-Key: $REQUEST"',
    body !== undefined &&
      `--header "Content-Type: application/json" \\\n  --data '${json.replaceAll('\n', '\n  ')}'`,
  ]
    .filter(Boolean)
    .join(' \\\n  ');
  const request = isKeyed(parameters)
    ? `# Random; the same if the request is repeated.\nREQUEST=${RANDOM_IN_SHELL}\n`
    : '';
  return `${environmentLine(variables)}${pagesLine(sampled, '#')}${request}${call}`;
}

/** Returns a call with the standard library of Python, whose integers are exact. */
export function pythonLines(sampled: Sampled): string {
  const { operation, parameters, method, path } = sampled;
  const variables = variablesIn(sampled);
  const body = bodyOf(operation);
  const imports = ['json', 'os', 'sys', 'urllib.error', 'urllib.request'];
  if (isKeyed(parameters)) imports.push('uuid');
  return [
    `${environmentLine(variables)}${pagesLine(sampled, '#')}import ${imports.join(', ')}`,
    '',
    ...variables.map((name) => `${snakeCase(name)} = ${fromEnvironment(name)}`),
    ...(body === undefined ? [] : [`body = ${pythonValue(body)}`]),
    'request = urllib.request.Request(',
    `    ${path.includes('{') ? 'f' : ''}"${targetOf(sampled, (name) => `{${snakeCase(name)}}`)}",`,
    ...(method === 'get' ? [] : [`    method="${method.toUpperCase()}",`]),
    ...(body === undefined ? [] : ['    data=json.dumps(body).encode(),']),
    '    headers={',
    '        "Authorization": "Bearer " + os.environ["KEY"],',
    ...(isKeyed(parameters) ? ['        "Idempotency-Key": str(uuid.uuid4()),'] : []),
    ...(body === undefined ? [] : ['        "Content-Type": "application/json",']),
    '    },',
    ')',
    'try:',
    '    with urllib.request.urlopen(request) as response:',
    isStream(operation)
      ? '        for line in response:\n            print(line.decode(), end="")'
      : '204' in operation.responses
        ? '        print(response.status)'
        : '        print(json.dumps(json.load(response), indent=2))',
    'except urllib.error.HTTPError as error:',
    '    record = json.load(error)',
    `    sys.exit(f"{error.code} {record['code']}: {record['message']}")`,
  ].join('\n');
}

/** JSON as a literal of Python, whose strings have the same escapes. */
function pythonValue(value: unknown): string {
  const words: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
  return bodyText(value, snakeCase).replaceAll(
    /"(?:[^"\\]|\\.)*"|true|false|null/g,
    (token) => words[token] ?? token,
  );
}

/** Ids of orders and pets are integers, others are text. */
const fromEnvironment = (name: string): string =>
  /^(?:order|other|pet)Id$/.test(name) ? `int(os.environ["${name}"])` : `os.environ["${name}"]`;

/** orderId -> order_id */
const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
