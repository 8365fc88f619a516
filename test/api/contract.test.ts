import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ERROR_CODES, errorResponse } from '../../src/http/errors.ts';
import { contract } from '../http/contract-check.ts';
import { startService } from '../http/harness.ts';

const PUBLIC = ['/openapi/v1.json', '/openapi/v1.yaml'];

test('every operation of the contract is routed and counted under its operationId', async (t) => {
  const { call, metrics } = await startService(t);
  for (const [template, item] of Object.entries<object>(contract.paths)) {
    const path = `/v1${template.replaceAll(/\{\w+\}/g, '1')}`;
    for (const [verb, operation] of Object.entries(item)) {
      const { status } = await call(verb.toUpperCase(), path);
      assert.notEqual(status, 405);
      const labels = `operation="${operation.operationId}",status="${status}"`;
      const text = await metrics.registry.metrics();
      assert.ok(text.includes(`store_orders_http_requests_total{${labels}} 1`), labels);
    }
  }
});

test('every route is an operation of the contract or serves the contract', async (t) => {
  const { server } = await startService(t);
  const documented = new Set(PUBLIC);
  for (const template of Object.keys(contract.paths)) {
    documented.add(`/v1${template}`);
  }
  assert.deepEqual(new Set(server.router.templates), documented);
});

test('every operation requires a key, and every example of an error is what the service sends', () => {
  assert.deepEqual(contract.security, [{ apiKey: [] }]);
  for (const item of Object.values<object>(contract.paths)) {
    for (const operation of Object.values(item)) assert.equal(operation.security, undefined);
  }
  const responses = Object.values<{ content?: Record<string, { example?: unknown }> }>(
    contract.components.responses,
  );
  for (const { content } of responses) {
    for (const { example } of Object.values(content ?? {})) {
      const record = example as { code: (typeof ERROR_CODES)[number] };
      assert.deepEqual(record, JSON.parse(errorResponse(record.code).body));
    }
  }
});

test('the contract is served without a key, as YAML and as JSON, with an ETag', async (t) => {
  const { call } = await startService(t, {
    BASE_URL: 'https://api.pets.example/v1',
    STAGING_BASE_URL: 'https://staging.pets.example/v1',
    PET_LOOKUP_SUNSET_AT: '2031-05-06',
  });
  for (const path of PUBLIC) {
    const answer = await call('GET', path, { authorization: '' });
    assert.equal(answer.status, 200);
    const served = parse(answer.body);
    assert.deepEqual(served.servers, [
      { url: 'https://api.pets.example/v1', description: 'Production' },
      { url: 'https://staging.pets.example/v1', description: 'Staging' },
    ]);
    assert.equal(served.paths['/pets/{petId}'].get['x-sunset'], '2031-05-06T00:00:00.000Z');
    assert.deepEqual(served.components, contract.components);
    const etag = String(answer.headers.etag);
    assert.equal((await call('GET', path, { 'if-none-match': etag })).status, 304);
    assert.equal((await call('HEAD', path)).status, 200);
  }
});

/** Codes of operations that validate parameters or a body; v1 has none. */
const NOT_IN_V1 = ['parameter_invalid', 'body_invalid', 'unsupported_media_type'];

test('the contract lists exactly the error codes of v1', () => {
  const { code } = contract.components.schemas.Error.properties;
  const codes = ERROR_CODES.filter((each) => !NOT_IN_V1.includes(each));
  assert.deepEqual(code['x-extensible-enum'], codes);
});

test('docs/errors.md documents every error code and its status, and no other', () => {
  const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `([a-z_]+)` *\| (\d{3}) *\|/gm)];
  assert.deepEqual(
    rows.map(([, code, status]) => [code, Number(status)]).sort(),
    ERROR_CODES.map((code) => [code, errorResponse(code).status] as const).sort(),
  );
});
