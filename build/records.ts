// node build/records.ts: writes records.ts, the types of the records in both contracts, operations.ts, what the operations
// of v2 take and answer, calls.ts, how the client calls them, and error-codes.ts, the errors that each can have. The service, the client library and the console use them.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import {
  type OpenApi,
  type Operation,
  openValues,
  type Response,
  resolved,
  type Schema,
} from '../protocol/openapi.ts';
import { ERROR_RECORDS } from '../src/http/error-records.ts';

const V1 = contractOf('v1');
const V2 = contractOf('v2');

/** v2's records have their own names; of v1's, these two do not exist in v2. */
const OF_V1 = ['Order', 'Pet'];
/** A name that does not hide the global Error. */
const RENAMED: Readonly<Record<string, string>> = { Error: 'ErrorRecord' };

/** Returns the text of records.ts. */
export function recordsSource(): string {
  const [v1, v2] = [V1, V2].map(({ components }) => components.schemas) as [Schemas, Schemas];
  const codes = new Set([v1, v2].flatMap((schemas) => allCodes(schemas) ?? []));
  const schemas = [...OF_V1.map((name) => [name, v1[name]!] as const), ...Object.entries(v2)];
  return [
    '// Made from the contracts by "node build/records.ts". Integers are bigint, times RFC 3339 in UTC with milliseconds.\n',
    ...schemas.map(([name, schema]) => interfaceOf(name, schema)),
    '/** The error codes of this release of the contracts; a service may send others. */',
    `export type ErrorCode =\n${[...codes].map((code) => `  | '${code}'`).join('\n')}\n  | (string & {});\n`,
  ].join('\n');
}

function contractOf(version: string): OpenApi {
  const url = new URL(`../contract/${version}.yaml`, import.meta.url);
  return load(readFileSync(url, 'utf8')) as OpenApi;
}

type Schemas = OpenApi['components']['schemas'];

function allCodes({ Error: error }: Schemas) {
  return error?.properties?.code && openValues(error.properties.code);
}

function interfaceOf(name: string, schema: Schema): string {
  const own = RENAMED[name] ?? name;
  const declaration =
    schema.type === 'object'
      ? `interface ${own} ${objectOf(schema, '')}`
      : `type ${own} = ${typeOf(schema, '')};`;
  return `${comment(schema, '')}export ${declaration}\n`;
}

function objectOf({ properties = {}, required = [] }: Schema, indent: string): string {
  if (Object.keys(properties).length === 0) return 'extends Readonly<Record<string, never>> {}';
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${comment(schema, inner)}${inner}readonly ${name}${mark}: ${typeOf(schema, inner)};`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function typeOf(schema: Schema, indent: string): string {
  const extensible = openValues(schema);
  if (extensible?.includes('bad_request')) return 'ErrorCode';
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1)!;
    return RENAMED[name] ?? name;
  }
  if (extensible !== undefined) {
    return [...extensible.map((value) => `'${value}'`), '(string & {})'].join(' | ');
  }
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ');
  if (Array.isArray(schema.type)) {
    const [type] = schema.type;
    return `${typeOf({ ...schema, type }, indent)} | null`;
  }
  if (schema.type === 'array') {
    const item = typeOf(schema.items!, indent);
    return `readonly ${/[{|]/.test(item) ? `(${item})` : item}[]`;
  }
  if (schema.type === 'object') return objectOf(schema, indent);
  if (schema.type === 'integer') return 'bigint';
  return schema.type as string;
}

function comment({ description }: Pick<Schema, 'description'>, indent: string): string {
  return description === undefined ? '' : `${indent}/** ${description.trim()} */\n`;
}

/** Returns the text of operations.ts: what each operation of v2 takes and answers. Headers are read where they are used. */
export function operationsSource(): string {
  const operations = Object.values(V2.paths).flatMap((item) => Object.values(item));
  const lines = operations.map((operation) => {
    const { parameters, body, answer } = partsOf(operation);
    const shape = `readonly parameters: ${parameters}; readonly body: ${body}; readonly answer: ${answer}`;
    return `  readonly ${operation.operationId}: { ${shape} };`;
  });
  const names = Object.keys(V2.components.schemas)
    .map((name) => RENAMED[name] ?? name)
    .sort();
  const used = names.filter((name) => lines.some((line) => new RegExp(`\\b${name}\\b`).test(line)));
  return [
    '// Made from the contract by "node build/records.ts".\n',
    `import type { ${used.join(', ')} } from './records.ts';\n`,
    '/** The operations of v2: parameters of path and query, the body, and the record of a successful response. */',
    `export interface Operations {\n${lines.join('\n')}\n}\n`,
  ].join('\n');
}

function partsOf({ parameters = [], requestBody, responses }: Operation) {
  const fields = parameters
    .map((each) => resolved(V2, each))
    .filter((each) => each.in !== 'header')
    .map(({ name, required, schema }) => {
      return `readonly ${name}${required ? '' : '?'}: ${typeOf(schema, '')}`;
    });
  const schema = requestBody?.content['application/json']?.schema;
  const optional = requestBody?.required ? '' : ' | undefined';
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))![1];
  const record = resolved<Response>(V2, success).content?.['application/json']?.schema;
  return {
    parameters: fields.length === 0 ? 'object' : `{ ${fields.join('; ')} }`,
    body: schema === undefined ? 'undefined' : `${typeOf(schema, '')}${optional}`,
    answer: record === undefined ? 'undefined' : typeOf(record, ''),
  };
}

/** Operations whose query the client takes as an object. */
const QUERIES = ['listOrders', 'listChanges'];

/** Returns the text of calls.ts: how the client calls each operation. */
export function callsSource(): string {
  const queries = Object.values(V2.paths)
    .flatMap((item) => Object.values(item))
    .filter(({ operationId }) => QUERIES.includes(operationId));
  return [
    '// Made from the contracts by "node build/records.ts": how the client calls each operation.\n',
    "import type { OperationName } from './error-codes.ts';\n",
    ...queries.map(queryInterface),
    '/** How a parameter is written: the values of a list are separated by commas. */',
    "export type ParameterKind = 'int64' | 'time' | 'text' | 'count' | readonly string[] | { readonly listOf: readonly string[] | 'time' };\n",
    '/** A call of an operation; `expects` has the statuses of a success. */',
    "export interface CallOf { readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; readonly path: string; readonly expects: readonly number[]; readonly query: Readonly<Record<string, ParameterKind>> }\n",
    'export const CALLS: Readonly<Record<OperationName, CallOf>> = {',
    `${[...callsOf(V2, '/v2', ''), ...callsOf(V1, '/v1', 'v1.')].join('\n')}\n};\n`,
  ].join('\n');
}

function callsOf(document: OpenApi, root: string, prefix: string): string[] {
  const callOf =
    (path: string) =>
    ([method, operation]: readonly [string, Operation]) => {
      const statuses = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
      const query = queryOf(document, operation).map(
        ({ name, schema }) => `${name}: ${kindOf(schema)}`,
      );
      const parts = [
        `method: '${method.toUpperCase()}'`,
        `path: '${root}${path}'`,
        `expects: [${statuses.join(', ')}]`,
        `query: { ${query.join(', ')} }`,
      ];
      return `  '${prefix}${operation.operationId}': { ${parts.join(', ')} },`;
    };
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(callOf(path)),
  );
}

function queryOf(document: OpenApi, { parameters = [] }: Operation) {
  return parameters.map((each) => resolved(document, each)).filter((each) => each.in === 'query');
}

function queryInterface(operation: Operation): string {
  const { operationId } = operation;
  const fields = queryOf(V2, operation).map(({ name, description, schema }) => {
    const type =
      schema.format === 'date-time'
        ? 'Date | string'
        : schema.type === 'array'
          ? `${typeOf(schema.items!, '')} | ${typeOf(schema, '')}`
          : schema.format === 'int32'
            ? 'number'
            : typeOf(schema, '');
    const text = description
      ?.trim()
      .replaceAll('\n', '\n   * ')
      .replace(/^Comma-separated s/, 'S')
      .replace(/^Comma-separated t/, 'T');
    return `${comment({ description: text }, '  ')}  readonly ${name}?: ${type} | undefined;`;
  });
  const name = `${operationId[0]!.toUpperCase()}${operationId.slice(1)}Query`;
  return `/** The parameters of ${operationId}. */\nexport interface ${name} {\n${fields.join('\n')}\n}\n`;
}

/** A ParameterKind, as source. */
function kindOf({ type, format, items, enum: values }: Schema): string {
  const list = (each: readonly string[]) => `[${each.map((value) => `'${value}'`).join(', ')}]`;
  if (type === 'array') return `{ listOf: ${items!.enum ? list(items!.enum) : "'time'"} }`;
  if (values !== undefined) return list(values);
  if (format === 'date-time') return "'time'";
  if (type === 'integer') return format === 'int64' ? "'int64'" : "'count'";
  return "'text'";
}

/** The errors of every operation of v1, which is frozen, and does not list them; their statuses are in the table of errors. */
const V1_CODES = [
  ...['bad_request', 'api_key_missing', 'api_key_malformed', 'api_key_invalid', 'api_key_expired'],
  ...['api_key_revoked', 'api_key_wrong_environment', 'scope_missing', 'method_not_allowed'],
  ...['request_timeout', 'body_too_large', 'uri_too_long', 'expectation_failed'],
  ...['headers_too_large', 'internal_error', 'store_unavailable', 'http_version_not_supported'],
] as const;
const V1_OPERATIONS = {
  listOrders: [],
  cancelOrder: [
    ...(['order_not_found', 'order_already_cancelled', 'invalid_order_id'] as const),
    ...(['order_already_shipped', 'cancel_limit_reached'] as const),
  ],
  getPet: ['pet_not_found', 'invalid_pet_id', 'pet_lookup_gone'],
} as const;

/** Returns the text of error-codes.ts. */
export function errorCodesSource(): string {
  const operations = Object.values(V2.paths).flatMap((item) => Object.values(item));
  const codes = operations.map(({ operationId, responses }) => {
    const found = Object.entries(responses).flatMap(([status, response]) =>
      codesOf(status, resolved<Response>(V2, response)),
    );
    return [operationId, Object.fromEntries(found)] as const;
  });
  const v1 = Object.entries(V1_OPERATIONS).map(([name, own]) => {
    const codes = [...V1_CODES, ...own].map((code) => [code, ERROR_RECORDS[code].status]);
    return [`v1.${name}`, Object.fromEntries(codes)] as const;
  });
  const all: (readonly [string, Readonly<Record<string, number>>])[] = [...codes, ...v1];
  const isGeneral = (code: string) => all.every(([, own]) => code in own);
  const general = Object.entries(all[0]![1]).filter(([code]) => isGeneral(code));
  const entries = all.map(([name, own]) => {
    const others = Object.entries(own).filter(([code]) => !isGeneral(code));
    return `  '${name}': { ...GENERAL, ${literal(others)} },`;
  });
  const names = all.map(([name]) => `  | '${name}'`);
  return [
    '// Made from the contracts by "node build/records.ts": the error codes that each operation can have, with their statuses.\n',
    `const GENERAL = { ${literal(general)} } as const;\n`,
    `/** An operation, as hooks name it. */\nexport type OperationName =\n${names.join('\n')};\n`,
    // A declared type, since the inferred one would be a tenth of the client's package.
    'export const ERROR_CODES: Readonly<Record<OperationName, Readonly<Record<string, number>>>> = {',
    `${entries.join('\n')}\n};\n`,
  ].join('\n');
}

/** Returns the error codes of a response, each with its status. */
export function codesOf(status: string, response: Response): (readonly [string, number])[] {
  const { 'x-error-codes': codes = [], 'x-error-statuses': statuses = [] } = response;
  return codes.map((code, index) => [code, statuses[index] ?? Number(status)]);
}

function literal(entries: readonly (readonly [string, number])[]): string {
  return entries.map(([code, status]) => `${code}: ${status}`).join(', ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = {
    'records.ts': recordsSource(),
    'error-codes.ts': errorCodesSource(),
    'operations.ts': operationsSource(),
    'calls.ts': callsSource(),
  };
  for (const [name, source] of Object.entries(files)) {
    writeFileSync(new URL(`../protocol/generated/${name}`, import.meta.url), source);
  }
}
