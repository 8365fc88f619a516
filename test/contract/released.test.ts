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
const DELIVERY = (contract: Part) => contract.webhooks.changes.post;

/** The released contract of v2 with a change. */
function changed(change: (contract: Part) => void): OpenApi {
  const copy = structuredClone(contractAt('released/v2.yaml'));
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
];

for (const [expected, change] of BREAKING) {
  test(`a contract that breaks clients is detected: ${expected.source}`, () => {
    const found = breakingChanges(contractAt('released/v2.yaml'), changed(change));
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

test('additions break no client, and raise the minor version', () => {
  const released = contractAt('released/v2.yaml');
  const [major, minor] = released.info.version.split('.').map(Number);
  const now = changed((all) => {
    all.paths['/store/returns'] = { get: { operationId: 'listReturns', responses: {} } };
    LIST(all).parameters.push({ name: 'color', in: 'query', schema: { type: 'string' } });
    LIST(all).responses[418] = { description: 'A teapot.' };
    delete LIST(all).responses[400];
    PARAMETERS(all).Limit.schema.maximum = 1_000;
    PARAMETERS(all).Sort.schema.enum.push('color');
    SCHEMAS(all).OrderRecord.properties.color = { type: 'string' };
    SCHEMAS(all).NewOrder.properties.color = { type: 'string' };
    SCHEMAS(all).NewOrder.required = [];
    SCHEMAS(all).Error.properties.code.examples.push('color_unknown');
    delete all.paths['/store/activity'];
  });
  assert.deepEqual(breakingChanges(released, now), []);
  assert.equal(versionProblem(released, now), 'additions raise the minor version');
  const raised = { ...now, info: { ...now.info, version: `${major}.${minor! + 1}.0` } };
  assert.equal(versionProblem(released, raised), undefined);
  const described = changed(({ info }) => (info.description = 'other'));
  assert.equal(versionProblem(released, described), undefined);
});
