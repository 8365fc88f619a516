import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from 'js-yaml';
import type { OpenApi } from '../../protocol/openapi.ts';
import { breakingChanges } from './breaking-changes.ts';

function contractAt(path: string): OpenApi {
  const url = new URL(`../../contract/${path}`, import.meta.url);
  return load(readFileSync(url, 'utf8')) as OpenApi;
}

/** Keys whose values are for people, or lists that clients know may grow. */
const NOT_BINDING = ['description', 'summary', 'example', 'examples', 'x-extensible-enum'];

/** A contract as text, without its version and what may change at any time. */
function binding(contract: OpenApi): string {
  const bindingOf = (node: unknown, name = ''): unknown => {
    if (Array.isArray(node)) return node.map((item) => bindingOf(item));
    if (typeof node !== 'object' || node === null) return node;
    const entries = Object.entries(node)
      // A property can have the name of a keyword.
      .filter(([key]) => name === 'properties' || !NOT_BINDING.includes(key))
      .map(([key, value]) => [key, bindingOf(value, key)]);
    return Object.fromEntries(entries);
  };
  return JSON.stringify(bindingOf({ ...contract, info: undefined }));
}

/** Why a version of a contract may not follow a released one; undefined if it may. */
function versionProblem(released: OpenApi, now: OpenApi): string | undefined {
  const [before, after] = [released, now].map(({ info }) => info.version.split('.').map(Number));
  const isAdded = binding(released) !== binding(now);
  if (after![0] !== before![0]) return 'the major version differs';
  const order = after![1]! - before![1]! || after![2]! - before![2]!;
  if (order < 0) return 'the version is an earlier one';
  return isAdded && after![1] === before![1] ? 'additions raise the minor version' : undefined;
}

test('the contract of v1 is the released one, except for descriptions, examples and new error codes', () => {
  const [released, now] = [contractAt('released/v1.yaml'), contractAt('v1.yaml')];
  assert.equal(binding(now), binding(released));
  assert.deepEqual(breakingChanges(released, now), []);
});

test('the contract of v2 breaks no client of the released one', () => {
  const [released, now] = [contractAt('released/v2.yaml'), contractAt('v2.yaml')];
  assert.deepEqual(breakingChanges(released, now), []);
  assert.equal(versionProblem(released, now), undefined);
});

// biome-ignore lint/suspicious/noExplicitAny: a part of a contract that a test changes
type Part = any;

const LIST = (contract: Part) => contract.paths['/store/orders'].get;
const PLACE = (contract: Part) => contract.paths['/store/orders'].post;
const PARAMETERS = (contract: Part) => contract.components.parameters;
const SCHEMAS = (contract: Part) => contract.components.schemas;
const HEADERS = (contract: Part) => contract.components.headers;
const RESPONSES = (contract: Part) => contract.components.responses;
const DELIVERY = (contract: Part) => contract.webhooks.changes.post;

/** Read once: it takes longer than all comparisons. */
const RELEASED = contractAt('released/v2.yaml');

/** The released contract of v2 with a change. */
function changed(change: (contract: Part) => void): OpenApi {
  const copy = structuredClone(RELEASED);
  change(copy);
  return copy;
}

const BREAKING: readonly (readonly [expected: RegExp, change: (contract: Part) => void])[] = [
  [/GET \/store\/counts is gone/, ({ paths }) => delete paths['/store/counts']],
  [/the webhook changes is gone/, ({ webhooks }) => delete webhooks.changes],
  [
    /the error code order_changed is gone/,
    (all) => SCHEMAS(all).Error.properties.code.examples.splice(0, 99),
  ],
  [/GET \/store\/orders is not stable/, (all) => (LIST(all)['x-stability-level'] = 'beta')],
  [
    /GET \/store\/orders: the operationId is readOrders/,
    (all) => (LIST(all).operationId = 'readOrders'),
  ],
  [/GET \/store\/orders: the scope is all/, (all) => (LIST(all).security = [{ apiKey: ['all'] }])],
  [/query parameter status is gone/, (all) => LIST(all).parameters.shift()],
  [/query parameter sort is required/, (all) => (PARAMETERS(all).Sort.required = true)],
  [
    /query parameter new is required/,
    (all) => LIST(all).parameters.push({ name: 'new', in: 'query', required: true, schema: {} }),
  ],
  [/query parameter sort: the values are id/, (all) => (PARAMETERS(all).Sort.schema.enum = ['id'])],
  [/query parameter limit: maximum is 100/, (all) => (PARAMETERS(all).Limit.schema.maximum = 100)],
  [/query parameter limit: minimum is 2/, (all) => (PARAMETERS(all).Limit.schema.minimum = 2)],
  [
    /query parameter limit: the format is int64/,
    (all) => (PARAMETERS(all).Limit.schema.format = 'int64'),
  ],
  [
    /query parameter limit: the type is string/,
    (all) => (PARAMETERS(all).Limit.schema.type = 'string'),
  ],
  [
    /query parameter cursor: the pattern is \^x/,
    (all) => (PARAMETERS(all).Cursor.schema.pattern = '^x'),
  ],
  [
    /the body: application\/json is gone/,
    (all) => (PLACE(all).requestBody.content = { 'text/csv': { schema: {} } }),
  ],
  [/the body may have less bytes/, (all) => (PLACE(all).requestBody['x-max-bytes'] = 1)],
  [
    /the body is required/,
    (all) => (all.paths['/store/orders/{orderId}/cancel'].post.requestBody.required = true),
  ],
  [/the body.reference is gone/, (all) => delete SCHEMAS(all).NewOrder.properties.reference],
  [/the body.reference is required/, (all) => SCHEMAS(all).NewOrder.required.push('reference')],
  [/the body.color is required/, (all) => SCHEMAS(all).NewOrder.required.push('color')],
  [
    /the body.reference: maxLength is 9/,
    (all) => (SCHEMAS(all).NewOrder.properties.reference.maxLength = 9),
  ],
  [/200 is gone/, (all) => delete LIST(all).responses[200]],
  [/200: ETag is gone/, (all) => delete LIST(all).responses[200].headers.ETag],
  [/200: application\/json is gone/, (all) => (LIST(all).responses[200].content = {})],
  [/200.orders\[\].etag is gone/, (all) => delete SCHEMAS(all).OrderRecord.properties.etag],
  [/200.orders\[\].etag may be absent/, (all) => SCHEMAS(all).OrderRecord.required.splice(0, 99)],
  [
    /200.orders\[\].etag: maxLength is undefined/,
    (all) => delete SCHEMAS(all).OrderRecord.properties.etag.maxLength,
  ],
  [
    /200.orders\[\].etag: the type is string,null/,
    (all) => (SCHEMAS(all).OrderRecord.properties.etag.type = ['string', 'null']),
  ],
  [
    /the webhook changes: header parameter webhook-id is gone/,
    (all) => DELIVERY(all).parameters.splice(0, 1),
  ],
  [/the webhook changes.changes is gone/, (all) => delete SCHEMAS(all).Delivery.properties.changes],
  [/200: ETag may be absent/, (all) => (HEADERS(all).ETag.required = false)],
  [/201: Location may be absent/, (all) => (HEADERS(all).Location.required = false)],
  [/503: Retry-After may be absent/, (all) => (HEADERS(all)['Retry-After'].required = false)],
  [
    /Retry-After: the pattern is undefined/,
    (all) => (HEADERS(all)['Retry-After'].schema = { type: 'string', format: 'date-time' }),
  ],
  [/ETag: the pattern is undefined/, (all) => delete HEADERS(all).ETag.schema.pattern],
  [/ETag: maxLength is 100000/, (all) => (HEADERS(all).ETag.schema.maxLength = 100_000)],
  [
    /Retry-After: the type is integer/,
    (all) => (HEADERS(all)['Retry-After'].schema.type = 'integer'),
  ],
  [/parameter status: explode is true/, (all) => (PARAMETERS(all).Status.explode = true)],
  [
    /parameter status: style is pipeDelimited/,
    (all) => (PARAMETERS(all).Status.style = 'pipeDelimited'),
  ],
  [/200.orders: items is gone/, (all) => delete SCHEMAS(all).OrderPage.properties.orders.items],
  [
    /the security scheme apiKey: in is header/,
    (all) =>
      (all.components.securitySchemes.apiKey = { type: 'apiKey', in: 'header', name: 'X-API-Key' }),
  ],
  [/the security scheme apiKey is gone/, (all) => (all.components.securitySchemes = {})],
  [
    /the scope is orders:read,changes:read of apiKey/,
    (all) => LIST(all).security[0].apiKey.push('changes:read'),
  ],
  [
    /\/key: the scope is orders:read/,
    ({ paths }) => (paths['/key'].get.security = [{ apiKey: ['orders:read'] }]),
  ],
  [/the scope is {2}of mtls/, (all) => (LIST(all).security = [{ mtls: [] }])],
  [
    /the scope is orders:read,mtls/,
    (all) => (LIST(all).security = [{ apiKey: ['orders:read'], mtls: [] }]),
  ],
  [
    /order_already_cancelled is order_was_cancelled/,
    (all) => (RESPONSES(all).CannotCancel['x-error-codes'][1] = 'order_was_cancelled'),
  ],
  [
    /the path of the servers is \/v3/,
    (all) => (all.servers[0].url = 'https://api.store.example/v3'),
  ],
  [
    /order_not_found has the status 410/,
    (all) => {
      const { responses } = all.paths['/store/orders/{orderId}'].get;
      responses[410] = responses[404];
      delete responses[404];
    },
  ],
  [
    /order_already_shipped has the status 412/,
    (all) => RESPONSES(all).OrderChanged['x-error-codes'].push('order_already_shipped'),
  ],
  [
    /method_not_allowed has the status 404/,
    (all) => (RESPONSES(all).NotServed['x-error-statuses'][1] = 404),
  ],
  [/202 is new/, (all) => (PLACE(all).responses[202] = { description: 'Later.' })],
  [
    /the body.quantity: the values are 1/,
    (all) => (SCHEMAS(all).NewOrder.properties.quantity.const = 1),
  ],
  [
    /the body.quantity: "not" is not compared/,
    (all) => (SCHEMAS(all).NewOrder.properties.quantity.not = {}),
  ],
  [
    /the body: "dependentRequired" is not compared/,
    (all) => (SCHEMAS(all).NewOrder.dependentRequired = { reference: ['shipDate'] }),
  ],
  [/"oneOf" is not compared/, (all) => (SCHEMAS(all).OrderRecord.oneOf = [])],
  [
    /"uniqueItems" is not compared/,
    (all) => (SCHEMAS(all).BulkCancel.properties.orders.uniqueItems = true),
  ],
  [
    /"multipleOf" is not compared/,
    (all) => (SCHEMAS(all).NewOrder.properties.quantity.multipleOf = 2),
  ],
  [
    /additionalProperties is a schema/,
    (all) => (SCHEMAS(all).NewOrder.additionalProperties = { type: 'string' }),
  ],
  [
    /path parameter orderId: "content" is not compared/,
    (all) => (PARAMETERS(all).OrderId.content = { 'application/json': {} }),
  ],
  [
    /path parameter orderId: x-error-code is undefined/,
    (all) => delete PARAMETERS(all).OrderId['x-error-code'],
  ],
  [/\/store: "parameters" is not compared/, ({ paths }) => (paths['/store'].parameters = [])],
  [/GET \/store: "servers" is not compared/, ({ paths }) => (paths['/store'].get.servers = [])],
  [
    /status: the value shipped is gone/,
    (all) => SCHEMAS(all).OrderRecord.properties.status.examples.splice(1, 1),
  ],
  [
    /the webhook changes: header parameter webhook-signature may be absent/,
    (all) => (DELIVERY(all).parameters[2].required = false),
  ],
  [
    /the webhook changes: header parameter webhook-timestamp: the pattern is undefined/,
    (all) => (DELIVERY(all).parameters[1].schema = { type: 'string', format: 'date-time' }),
  ],
  [/the webhook changes: 410 is gone/, (all) => delete DELIVERY(all).responses[410]],
  [/the webhook changes.next may be absent/, (all) => SCHEMAS(all).Delivery.required.splice(2, 1)],
];

/** What docs/stability.md permits at any time. */
const PERMITTED: Readonly<Record<string, (contract: Part) => void>> = {
  'an operation': ({ paths }) => {
    paths['/store/returns'] = { get: { operationId: 'listReturns', responses: {} } };
  },
  'a method of a path': ({ paths }) => {
    paths['/key'].patch = { operationId: 'renameKey', responses: {} };
  },
  'an optional parameter': (all) =>
    LIST(all).parameters.push({ name: 'color', in: 'query', schema: { type: 'string' } }),
  'an optional field of a request': (all) =>
    (SCHEMAS(all).NewOrder.properties.color = { type: 'string' }),
  'a field of a response': (all) =>
    (SCHEMAS(all).OrderRecord.properties.color = { type: 'string' }),
  'a field of a delivery': (all) => (SCHEMAS(all).Delivery.properties.color = { type: 'string' }),
  'a value of an open text': (all) =>
    SCHEMAS(all).OrderRecord.properties.status.examples.push('returned'),
  'a value that a parameter accepts': (all) => PARAMETERS(all).Sort.schema.enum.push('color'),
  'an error code': (all) => {
    SCHEMAS(all).Error.properties.code.examples.push('order_archived');
    RESPONSES(all).OrderNotFound['x-error-codes'].push('order_archived');
  },
  'an error status': (all) => (LIST(all).responses[418] = { description: 'A teapot.' }),
  'an error that is not sent any more': (all) => {
    RESPONSES(all).OrderNotFound['x-error-codes'].pop();
    RESPONSES(all).CannotShip['x-error-codes'].pop();
  },
  'an error status less': (all) => delete LIST(all).responses[400],
  'a header of a response': (all) =>
    (LIST(all).responses[200].headers.Age = { schema: { type: 'string' } }),
  'a wider limit of a parameter': (all) => (PARAMETERS(all).Limit.schema.maximum = 1_000),
  'a wider limit of a request': (all) =>
    (SCHEMAS(all).NewOrder.properties.reference.maxLength = 1_000),
  'a narrower limit of a response': (all) =>
    (SCHEMAS(all).OrderRecord.properties.reference.maxLength = 300),
  'a required field of a response': (all) => SCHEMAS(all).OrderRecord.required.push('petId'),
  'a field that may be left out of a request': (all) => (SCHEMAS(all).NewOrder.required = []),
  'a header that a delivery has': (all) =>
    DELIVERY(all).parameters.push({ name: 'x', in: 'header', required: true, schema: {} }),
  'an operation without a scope': (all) => (LIST(all).security = [{ apiKey: [] }]),
  'another description, and an extension': (all) => {
    LIST(all).description = 'other';
    LIST(all)['x-color'] = 'red';
    SCHEMAS(all).OrderRecord['x-color'] = 'red';
  },
  'an end of what is not stable': ({ paths }) => delete paths['/store/activity'],
};

for (const [name, change] of Object.entries(PERMITTED)) {
  test(`a contract that breaks no client is let through: ${name}`, () => {
    assert.deepEqual(breakingChanges(RELEASED, changed(change)), []);
  });
}

for (const [expected, change] of BREAKING) {
  test(`a contract that breaks clients is detected: ${expected.source}`, () => {
    const found = breakingChanges(RELEASED, changed(change));
    assert.match(found.join('\n'), expected);
  });
}

test('a response of a stable operation gets no further value of an enumeration', () => {
  const withStatuses = (...values: readonly string[]) =>
    changed((all) => (SCHEMAS(all).OrderRecord.properties.status.enum = values));
  const [few, more] = [withStatuses('pending'), withStatuses('pending', 'returned')];
  assert.match(breakingChanges(few, more)[0]!, /status: the values are pending,returned/);
  assert.deepEqual(breakingChanges(more, few), []);
});

test('additions raise the minor version', () => {
  const released = RELEASED;
  const [major, minor] = released.info.version.split('.').map(Number);
  const now = changed(PERMITTED['a field of a response']!);
  assert.equal(versionProblem(released, now), 'additions raise the minor version');
  const raised = { ...now, info: { ...now.info, version: `${major}.${minor! + 1}.0` } };
  assert.equal(versionProblem(released, raised), undefined);
  const described = changed(({ info }) => (info.description = 'other'));
  assert.equal(versionProblem(released, described), undefined);
});
