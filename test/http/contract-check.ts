import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { load } from 'js-yaml';
import { isErrorCode, REFUSALS } from '../../src/http/error-records.ts';
import { refuse } from '../../src/http/request/reply.ts';

export interface Answer {
  readonly status: number;
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: string;
}

/** What the checks use of a contract. */
interface ContractDocument {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { properties: Record<string, unknown> }>>;
    readonly responses: Readonly<Record<string, unknown>>;
  };
  readonly security: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly security?: readonly { readonly apiKey: readonly string[] }[];
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The contracts, by version. */
export const CONTRACTS: Readonly<Record<string, ContractDocument>> = Object.fromEntries(
  ['v1', 'v2'].map((version) => {
    const url = new URL(`../../contract/${version}.yaml`, import.meta.url);
    return [version, load(readFileSync(url, 'utf8')) as ContractDocument];
  }),
);

const ajv = new Ajv2020({
  ...{ strict: true, allErrors: true },
  // `npm run check` checks the schemas themselves.
  ...{ meta: false, validateSchema: false },
});
formats.default(ajv);
ajv.addFormat('int64', true);
ajv.addVocabulary(['components', 'example', 'x-extensible-enum', 'x-error-code']);
for (const [version, { components }] of Object.entries(CONTRACTS)) {
  ajv.addSchema({ $id: version, components: closed(components) }, version);
}
const validators = new Map<unknown, ValidateFunction>();

/** Schemas that do not accept fields that the contract does not name: clients must, the service may not send them. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const all = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  return all.type === 'object' ? { additionalProperties: false, ...all } : all;
}

/** Statuses of requests that match no operation, as listed in info.description of the contract. */
const OUTSIDE_OPERATIONS = [400, 403, 405, 408, 412, 413, 414, 417, 429, 431, 505];

/** The operation of a request, and its version; HEAD counts as GET (RFC 9110, 9.3.2). */
function operationFor(method: string, path: string, rootPath: string) {
  const target = path.split('?', 1)[0]!;
  const verb = (method === 'HEAD' ? 'GET' : method).toLowerCase();
  for (const [version, { paths }] of Object.entries(CONTRACTS)) {
    for (const [template, item] of Object.entries(paths)) {
      const pattern = `${rootPath}/${version}${template}`.replaceAll(/\{\w+\}/g, '[^/]+');
      const operation = item[verb];
      if (operation !== undefined && new RegExp(`^${pattern}$`).test(target)) {
        return { version, operation };
      }
    }
  }
  return undefined;
}

/** Fails unless the contract documents the response for the request. */
export function checkAnswer(method: string, path: string, rootPath: string, answer: Answer): void {
  const { status, headers, body } = answer;
  assert.match(String(headers['x-request-id']), /^[\w.:-]{1,128}$/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  if (status >= 400) checkError(method, answer);

  const found = operationFor(method, path, rootPath);
  if (found === undefined) return;
  const { version, operation } = found;
  const isOutside = OUTSIDE_OPERATIONS.includes(status);
  const documented = operation.responses[status] ?? (isOutside && operation.responses.default);
  assert.ok(documented, `${operation.operationId} does not document ${status}: ${body}`);
  const response = resolve(version, documented) as {
    headers?: Record<string, unknown>;
    'x-error-codes'?: readonly string[];
    'x-error-statuses'?: readonly number[];
    content?: Record<string, { schema: unknown }>;
  };
  for (const [name, header] of Object.entries(response.headers ?? {})) {
    const { required, schema } = resolve(version, header) as {
      required?: boolean;
      schema: unknown;
    };
    const value = headers[name.toLowerCase()];
    if (required) assert.notEqual(value, undefined, `${status} without ${name}`);
    if (value !== undefined) validate(version, schema, String(value), `${status} ${name}`);
  }
  // Not in the contract, which would freeze them.
  assert.equal(headers['x-content-type-options'], 'nosniff');
  if (response.content === undefined || method === 'HEAD') {
    assert.equal(body, '', `${status} has a body`);
    return;
  }
  assert.equal(headers['content-type'], 'application/json');
  const codes = response['x-error-codes'];
  if (codes !== undefined) {
    const { code } = JSON.parse(body);
    const listed = response['x-error-statuses']?.[codes.indexOf(code)] ?? status;
    assert.ok(codes.includes(code) && listed === status, `${status}: ${body}`);
  }
  const { schema } = response.content['application/json']!;
  validate(version, schema, JSON.parse(body), `${status} body`);
}

/** Checks an error of any operation or of none: an Error record with a known code. */
function checkError(method: string, { status, headers, body }: Answer): void {
  assert.equal(headers['content-type'], 'application/json');
  if (method === 'HEAD') return;
  const record = JSON.parse(body);
  assert.ok(isErrorCode(record.code), `unknown code ${record.code}`);
  const { errors, order, ...all } = record;
  // The progress of a first read of the list, a scope or a media type follows the message.
  const more =
    / (?:[\d,]+ of [\d,]+ orders have been read|It needs [\w:-]+|It can also be [\w/+-]+)\.$/;
  const general = { ...all, message: all.message.replace(more, '') };
  if (order !== undefined) assert.equal(status, 409);
  const listing = ['parameter_invalid', 'body_invalid', 'orders_not_changed', 'exceeds_own_key'];
  assert.equal(errors !== undefined, listing.includes(record.code));
  assert.ok(
    REFUSALS.some((refusal) => refuse(refusal).body === JSON.stringify(general)),
    `unknown error ${body}`,
  );
  assert.equal(record.status, status);
  if (status === 401) assert.match(String(headers['www-authenticate']), /^Bearer realm=/);
  if (status === 405) assert.match(String(headers.allow), /^[A-Z]+(, [A-Z]+)*$/);
  const isTransient = status === 503 && record.code !== 'webhooks_unavailable';
  if (isTransient) assert.match(String(headers['retry-after']), /^\d+$/);
}

function resolve(version: string, node: unknown): unknown {
  const reference = (node as { $ref?: string }).$ref;
  if (reference === undefined) return node;
  return reference
    .slice('#/'.length)
    .split('/')
    .reduce((at, key) => (at as Record<string, unknown>)[key], CONTRACTS[version] as unknown);
}

function validate(version: string, schema: unknown, value: unknown, what: string): void {
  let validator = validators.get(schema);
  if (validator === undefined) {
    const text = JSON.stringify(schema).replaceAll('"#/', `"${version}#/`);
    validator = ajv.compile(JSON.parse(text));
    validators.set(schema, validator);
  }
  assert.ok(validator(value), `${what}: ${ajv.errorsText(validator.errors)}`);
}

/** Parses what a connection received; throws on anything but responses. */
export function parseAnswers(text: string): Answer[] {
  const answers: Answer[] = [];
  let rest = text;
  while (rest !== '') {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n((?:[^\r]+\r\n)*)\r\n/.exec(rest);
    if (head === null) throw new Error(`this is not an HTTP response: ${rest.slice(0, 200)}`);
    const headers: Record<string, string> = {};
    for (const line of head[2]!.split('\r\n').filter((each) => each !== '')) {
      const colon = line.indexOf(':');
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const length = Number(headers['content-length'] ?? 0);
    const body = rest.slice(head[0].length, head[0].length + length);
    answers.push({ status: Number(head[1]), headers, body });
    rest = rest.slice(head[0].length + length);
  }
  return answers;
}
