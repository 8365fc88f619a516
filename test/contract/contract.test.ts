import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from 'js-yaml';
import { openValues, type Schema, scopeOf } from '../../protocol/openapi.ts';
import { SCOPES, type Scope } from '../../src/domain/api-key.ts';
import { ERROR_RECORDS, isErrorCode, REFUSALS } from '../../src/http/error-records.ts';
import { refuse } from '../../src/http/request/reply.ts';
import { CONTRACTS } from '../http/contract-check.ts';
import { startService } from '../http/harness.ts';

const VERSIONS = Object.keys(CONTRACTS);

for (const [version, contract] of Object.entries(CONTRACTS)) {
  test(`every operation of ${version} is routed and counted under its operationId`, async (t) => {
    const { call, metrics } = await startService(t);
    for (const [template, item] of Object.entries(contract.paths)) {
      const path = `/${version}${template.replaceAll(/\{\w+\}/g, '1')}`;
      for (const [verb, { operationId }] of Object.entries(item)) {
        // A stream would have no end.
        const query = operationId === 'streamChanges' ? '?after=nonsense' : '';
        const { status } = await call(verb.toUpperCase(), path + query);
        assert.notEqual(status, 405);
        const labels = `operation="${operationId}",version="${version}",status="${status}"`;
        const text = await metrics.registry.metrics();
        assert.ok(text.includes(`store_orders_http_requests_total{${labels}} 1`), labels);
      }
    }
  });

  test(`every operation of ${version} requires a key, and every error example equals a response of the service`, () => {
    assert.deepEqual(contract.security, [{ apiKey: [] }]);
    for (const item of Object.values(contract.paths)) {
      // A requirement of an operation replaces the general one.
      for (const operation of Object.values(item)) {
        const needed = (operation.security ?? contract.security) as readonly object[];
        assert.deepEqual(needed.map(Object.keys), [['apiKey']]);
      }
    }
    const bodies = REFUSALS.map((refusal) => refuse(refusal).body);
    const examples = errorExamplesIn(contract);
    assert.ok(examples.length > 0);
    for (const { code, message, status } of examples) {
      const body = JSON.stringify({ code, message, status });
      assert.ok(bodies.includes(body), body);
    }
  });
}

/** Returns the Error records in the examples of a contract, wherever they are. */
function errorExamplesIn(node: unknown): { code: string; message: string; status: number }[] {
  if (typeof node !== 'object' || node === null) return [];
  const { code, message, status } = node as Record<string, unknown>;
  if (typeof code === 'string' && typeof message === 'string' && typeof status === 'number') {
    return [{ code, message, status }];
  }
  return Object.values(node).flatMap(errorExamplesIn);
}

test('every operation of v2 has a scope, a stability, the general errors and examples', () => {
  for (const item of Object.values(CONTRACTS.v2!.paths)) {
    for (const [method, found] of Object.entries(item)) {
      const operation = found as typeof found & Record<string, unknown>;
      const { operationId, responses } = operation;
      const scope = scopeOf(operation);
      assert.ok(scope === undefined || SCOPES.includes(scope as Scope), operationId);
      const level = String(operation['x-stability-level'] ?? 'stable');
      assert.ok(['stable', 'beta', 'alpha'].includes(level), operationId);
      const needed = ['401', '500', '503', 'default', ...(scope === undefined ? [] : ['403'])];
      if (['post', 'patch'].includes(method) && 'requestBody' in operation)
        needed.push('413', '415');
      for (const status of needed) assert.ok(status in responses, `${operationId}: ${status}`);
      const [ok] = Object.entries(responses).filter(([status]) => /^20\d$/.test(status));
      const [status, response] = ok!;
      const { content = {} } = response as { content?: Record<string, { example?: unknown }> };
      assert.equal(status === '204', Object.keys(content).length === 0, operationId);
      for (const { example } of Object.values(content)) {
        assert.notEqual(example, undefined, operationId);
      }
    }
  }
});

test('every integer of v2 has a format, every text and every list a limit', () => {
  const unlimited = (node: unknown, path: string): string[] => {
    if (typeof node !== 'object' || node === null || path.includes('/example')) return [];
    const { type, format, maxLength, maxItems, enum: values } = node as Record<string, unknown>;
    const [kind] = [type].flat();
    // A stream has no end.
    const isStream = path.includes('text/event-stream');
    const isMissing =
      (kind === 'integer' && format === undefined) ||
      (kind === 'string' &&
        ![maxLength, format, values].some((each) => each !== undefined) &&
        !isStream) ||
      (kind === 'array' && maxItems === undefined);
    const inside = Object.entries(node).flatMap(([key, value]) =>
      unlimited(value, `${path}/${key}`),
    );
    return isMissing ? [path, ...inside] : inside;
  };
  assert.deepEqual(unlimited(CONTRACTS.v2, ''), []);
});

test('every pattern is one that ECMAScript, Go, PCRE, Python, Java and Ruby compile', () => {
  const patternsIn = (node: unknown): string[] => {
    if (typeof node !== 'object' || node === null) return [];
    const { pattern, properties, ...rest } = node as Record<string, unknown>;
    const own = typeof pattern === 'string' ? [pattern] : [];
    const inside = [...Object.values(rest), ...Object.values(properties ?? {})];
    return [...own, ...inside.flatMap(patternsIn)];
  };
  for (const contract of Object.values(CONTRACTS)) {
    for (const pattern of new Set(patternsIn(contract))) {
      for (const flag of ['', 'u']) assert.doesNotThrow(() => new RegExp(pattern, flag));
      // No escapes but those of ASCII: Go has no \\u, and Ruby takes \\x80 for a part of a character. No groups such as look-behind.
      assert.match(pattern, /^(?:\\x[0-7][0-9a-f]|[^\\])*$/, pattern);
      assert.doesNotMatch(pattern, /\(\?(?!:)/, pattern);
    }
  }
});

test('texts of requests have no control characters, and may have all others', () => {
  const { pattern } = CONTRACTS.v2!.components.schemas.Reason as unknown as { pattern: string };
  for (const flag of ['', 'u']) {
    const compiled = new RegExp(pattern, flag);
    for (let code = 0; code < 0x3000; code += 1) {
      const isControl = code < 0x20 || (code > 0x7e && code < 0xa0);
      assert.equal(compiled.test(`a${String.fromCodePoint(code)}b`), !isControl, String(code));
    }
    assert.ok(compiled.test('😀'.repeat(255)));
  }
});

test('every route is an operation, a contract document or a web page', async (t) => {
  const { server } = await startService(t);
  const documented = VERSIONS.flatMap((version) => [
    ...[`/openapi/${version}.json`, `/openapi/${version}.yaml`],
    ...Object.keys(CONTRACTS[version]!.paths).map((template) => `/${version}${template}`),
  ]);
  const pages = [
    ...['/', '/favicon.ico', '/favicon.svg'],
    ...['/reference', '/reference/'],
    ...['reference.css', 'reference.js', 'find.js', 'ranking.js', 'places.js'].map(
      (name) => `/reference/{digest}/${name}`,
    ),
    ...['try-it.js', 'exact-json.js'].map((name) => `/reference/{digest}/${name}`),
  ];
  const routes = server.router.templates.filter((path) => !path.startsWith('/console'));
  assert.deepEqual(new Set(routes), new Set([...documented, ...pages]));
});

test('the contract is served without a key, as YAML and as JSON, with an ETag', async (t) => {
  const { call } = await startService(t, {
    BASE_URL: 'https://api.pets.example/v1',
    STAGING_BASE_URL: 'https://staging.pets.example/v1',
    PET_LOOKUP_SUNSET_AT: '2031-05-06',
  });
  const forms = VERSIONS.flatMap((version) => [
    [version, 'json'],
    [version, 'yaml'],
  ]);
  for (const [version, form] of forms) {
    const path = `/openapi/${version}.${form}`;
    const answer = await call('GET', path, { authorization: '' });
    assert.equal(answer.status, 200);
    const served = load(answer.body) as {
      servers: unknown;
      paths: Record<string, { get: Record<string, string> }>;
      components: unknown;
    };
    assert.deepEqual(served.servers, [
      { url: `https://api.pets.example/${version}`, description: 'Production' },
      { url: `https://staging.pets.example/${version}`, description: 'Staging' },
    ]);
    const sunset = served.paths['/pets/{petId}']?.get['x-sunset'];
    assert.equal(sunset, version === 'v1' ? '2031-05-06T00:00:00.000Z' : undefined);
    assert.deepEqual(served.components, CONTRACTS[version!]!.components);
    const etag = String(answer.headers.etag);
    assert.equal((await call('GET', path, { 'if-none-match': etag })).status, 304);
    assert.equal((await call('HEAD', path)).status, 200);
  }
});

/** Codes of what v1 does not have: validated parameters and bodies, idempotency keys, preconditions, feeds, webhooks. */
const NOT_IN_V1 = [
  ...['parameter_invalid', 'body_invalid', 'unsupported_media_type', 'cursor_invalid'],
  ...['idempotency_key_missing', 'idempotency_key_reused'],
  ...['reference_taken', 'reference_differs', 'orders_not_changed'],
  ...['too_many_tests', 'changes_gone', 'too_many_streams', 'stream_limit_reached', 'no_ids_left'],
  ...['webhook_not_found', 'webhook_url_taken', 'too_many_webhooks', 'webhooks_unavailable'],
  ...['webhook_changed', 'webhook_limit_reached', 'place_limit_reached', 'read_limit_reached'],
  ...['key_not_found', 'key_changed', 'key_ended', 'too_many_keys', 'exceeds_own_key'],
  ...['last_key_manager', 'no_invitation', 'key_change_limit_reached'],
];
/** Codes of the pet lookup. */
const NOT_IN_V2 = ['pet_not_found', 'invalid_pet_id', 'pet_lookup_gone'];

for (const [version, others] of [
  ['v1', NOT_IN_V1],
  ['v2', NOT_IN_V2],
] as const) {
  test(`the contract lists exactly the error codes of ${version}`, () => {
    const { code } = CONTRACTS[version]!.components.schemas.Error!.properties;
    const codes = REFUSALS.filter(isErrorCode).filter((each) => !others.includes(each));
    assert.deepEqual(openValues(code as Schema)!.toSorted(), codes.toSorted());
  });
}

test('docs/errors.md documents every error code and its status, and no other', () => {
  const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `([a-z_]+)` *\| (\d{3}) *\|/gm)];
  assert.deepEqual(
    rows.map(([, code, status]) => [code, Number(status)]).sort(),
    [
      ...new Map(
        Object.values(ERROR_RECORDS).map(({ code, status }) => [
          `${code} ${status}`,
          [code, status],
        ]),
      ).values(),
    ].sort(),
  );
});
