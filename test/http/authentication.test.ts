import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApiKey, newSecret } from '../../src/domain/api-key.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { CONTRACTS } from './contract-check.ts';
import { startService, testService } from './harness.ts';

const ORDERS = '/v1/store/orders';
const code = ({ body }: { body: string }) => JSON.parse(body).code;

test('every operation of the contract is 401 without a key', async (t) => {
  const { call } = await startService(t);
  const operations = Object.entries(CONTRACTS).flatMap(([version, { paths }]) =>
    Object.entries(paths).map(([template, item]) => [`/${version}${template}`, item] as const),
  );
  for (const [template, item] of operations) {
    const path = template.replaceAll(/\{\w+\}/g, '1');
    for (const method of Object.keys(item)) {
      const answer = await call(method.toUpperCase(), path, { authorization: '' });
      assert.equal(answer.status, 401, `${method} ${path}`);
      assert.equal(code(answer), 'api_key_missing');
      assert.equal(answer.headers['www-authenticate'], 'Bearer realm="store-orders"');
    }
  }
});

test('without a key every path below the base path is 401, whether it exists or not', async (t) => {
  const { call } = await startService(t);
  const none = { authorization: '' };
  for (const path of ['/v1', '/v1/', '/v1/nope', `${ORDERS}/x/y`, '/v1?x', '/v1//']) {
    assert.equal((await call('GET', path, none)).status, 401, path);
    assert.equal((await call('GET', path)).status, 404, path);
  }
  assert.equal((await call('PATCH', ORDERS, none)).status, 401);
  for (const path of ['/', '/v3/store/orders', '/v1x', '/v']) {
    assert.equal((await call('GET', path, none)).status, 404, path);
  }
});

test('the authorization scheme is case-insensitive', async (t) => {
  const { call, secret } = await startService(t);
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
    assert.equal((await call('GET', ORDERS, { authorization: `${scheme} ${secret}` })).status, 200);
  }
  assert.equal((await call('GET', ORDERS, { authorization: `Bearer   ${secret}` })).status, 200);
});

test('an Authorization header without a valid bearer credential is api_key_malformed', async (t) => {
  const { call, secret } = await startService(t);
  const malformed = [
    'Bearer',
    'Bearer ',
    `Basic ${secret}`,
    secret,
    `Bearer\t${secret}`,
    'Bearer a b',
  ];
  malformed.push(`Bearer ${secret},`, `Bearer "${secret}"`, 'Bearer \u00e9', `Bearer${secret}`);
  for (const authorization of malformed) {
    const answer = await call('GET', ORDERS, { authorization });
    assert.equal(answer.status, 401, authorization);
    assert.equal(code(answer), 'api_key_malformed', authorization);
    assert.match(String(answer.headers['www-authenticate']), /error="invalid_request"/);
  }
});

test('a secret that was never issued is api_key_invalid', async (t) => {
  const { call, secret } = await startService(t);
  const wrongChecksum = secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0');
  const invalid = ['x', 'a'.repeat(8192), wrongChecksum, newSecret('production'), secret.slice(1)];
  for (const each of [...invalid, secret.toLowerCase(), `${secret}=`]) {
    const answer = await call('GET', ORDERS, { authorization: `Bearer ${each}` });
    assert.equal(answer.status, 401);
    assert.equal(code(answer), 'api_key_invalid');
    assert.match(String(answer.headers['www-authenticate']), /error="invalid_token"/);
  }
});

testService('a key is accepted until it expires', async (t) => {
  const { call, store } = await startService(t);
  const now = Date.now();
  const make = async (expiresAt: number) => {
    const secret = newSecret('production');
    const key = newApiKey(secret, { name: 'x', environment: 'production', now, expiresAt });
    await store.apply([{ type: 'createKey', key }]);
    return { authorization: `Bearer ${secret}` };
  };
  assert.equal((await call('GET', ORDERS, await make(now + 60_000))).status, 200);
  const expired = await call('GET', ORDERS, await make(now - 1));
  assert.equal(expired.status, 401);
  assert.equal(code(expired), 'api_key_expired');
});

test('a remembered key is refused as soon as it expires', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const { call, store } = await startService(t);
  const secret = newSecret('production');
  const details = { name: 'x', environment: 'production', now: 0 } as const;
  const key = newApiKey(secret, { ...details, expiresAt: Date.now() + 100 });
  await store.apply([{ type: 'createKey', key }]);
  const headers = { authorization: `Bearer ${secret}` };
  assert.equal((await call('GET', ORDERS, headers)).status, 200);
  t.mock.timers.tick(100);
  assert.equal((await call('GET', ORDERS, headers)).status, 401);
});

test('production refuses keys of staging, and staging refuses keys of production', async (t) => {
  const production = await startService(t);
  const staging = await startService(t, { ENVIRONMENT: 'staging' });
  for (const [one, other] of [
    [production, staging],
    [staging, production],
  ] as const) {
    const answer = await one.call('GET', ORDERS, { authorization: `Bearer ${other.secret}` });
    assert.equal(answer.status, 401);
    assert.equal(code(answer), 'api_key_wrong_environment');
  }
  assert.match(staging.secret, /^so_test_/);
  assert.match(production.secret, /^so_live_/);
});

testService('a revoked key is refused within a second, and a new key works at once', async (t) => {
  const { call, store, key, secret } = await startService(t);
  assert.equal((await call('GET', ORDERS)).status, 200);
  await store.apply([{ type: 'revokeKey', id: key.id }]);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const answer = await call('GET', ORDERS);
  assert.equal(answer.status, 401);
  assert.equal(code(answer), 'api_key_revoked');

  const another = newSecret('production');
  const authorization = `Bearer ${another}`;
  assert.equal((await call('GET', ORDERS, { authorization })).status, 401);
  const details = { name: 'new', environment: 'production', now: Date.now() } as const;
  await store.apply([{ type: 'createKey', key: newApiKey(another, details) }]);
  assert.equal((await call('GET', ORDERS, { authorization })).status, 200);
  assert.notEqual(another, secret);
});

test('a request whose key cannot be looked up is 503, not 401', async (t) => {
  const { call } = await startService(t, {}, (real) => ({
    ...real,
    keys: () => Promise.reject(new StoreUnavailable('gone', 'failed')),
  }));
  assert.equal((await call('GET', ORDERS)).status, 503);
});

test('a secret is never logged, wherever the request contains it', async (t) => {
  const { call, secret, log } = await startService(t);
  await call('GET', ORDERS);
  await call('GET', `${ORDERS}?access_token=${secret}`);
  await call('DELETE', `${ORDERS}/${secret}`);
  await call('GET', `/v1/${secret}`, { 'x-request-id': secret, authorization: `Basic ${secret}` });
  await call('GET', ORDERS, { 'user-agent': secret, referer: secret });
  const body = secret.slice('so_live_'.length);
  for (const part of [body, body.slice(0, 8), body.slice(-8)]) {
    assert.ok(!log().includes(part), part);
  }
  assert.equal(log().trim().split('\n').length, 5, 'one line per request');
});
