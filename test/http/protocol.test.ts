import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REFUSALS } from '../../src/http/error-records.ts';
import { IDLE_TIMEOUT_MS, KEEP_ALIVE_MS } from '../../src/http/limits.ts';
import type { Exchange } from '../../src/http/request/exchange.ts';
import { refuse, sendHead } from '../../src/http/request/reply.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { startService } from './harness.ts';

const ORDERS = '/v1/store/orders';
/** By docs/errors.md. */
const [MAX_URL_BYTES, MAX_HEADER_BYTES, MAX_BODY_BYTES] = [8 * 1024, 32 * 1024, 1024 * 1024];
const code = ({ body }: { body: string }) => JSON.parse(body).code;

test('a method that the path does not support is 405 with Allow', async (t) => {
  const { call } = await startService(t);
  const cases: [string, string, string][] = [
    ['POST', ORDERS, 'GET, HEAD'],
    ['DELETE', ORDERS, 'GET, HEAD'],
    ['OPTIONS', ORDERS, 'GET, HEAD'],
    ['TRACE', ORDERS, 'GET, HEAD'],
    ['GET', `${ORDERS}/1`, 'DELETE'],
    ['HEAD', `${ORDERS}/1`, 'DELETE'],
    ['PUT', `${ORDERS}/1`, 'DELETE'],
    ['PROPFIND', `${ORDERS}/1`, 'DELETE'],
    ['POST', '/v1/pets/1', 'GET, HEAD'],
  ];
  for (const [method, path, allow] of cases) {
    const answer = await call(method, path);
    assert.equal(answer.status, 405, `${method} ${path}`);
    assert.equal(answer.headers.allow, allow);
  }
});

test('an unknown path is 404', async (t) => {
  const { call } = await startService(t);
  for (const path of ['/', '/v1', '/v1/store', '/v3/store/orders', `${ORDERS}/1/2`, `${ORDERS}/`]) {
    const answer = await call('GET', path);
    assert.equal(answer.status, 404, path);
    assert.equal(code(answer), 'not_found');
  }
});

test('another method is 405 with Allow for a key without the scope of the path too', async (t) => {
  const { call, newKey } = await startService(t);
  const authorization = `Bearer ${await newKey({ scopes: ['changes:read'] })}`;
  for (const [method, path] of [
    ['GET', ORDERS],
    ['DELETE', `${ORDERS}/1`],
    ['POST', '/v2/store/orders/1/cancel'],
  ] as const) {
    assert.equal((await call(method, path, { authorization })).status, 403);
    const { status, headers } = await call('PUT', path, { authorization });
    assert.equal(status, 405);
    assert.ok(String(headers.allow).startsWith(method));
  }
});

test('a URL of any length beyond the limit is 414, also with headers behind it', async (t) => {
  const { raw } = await startService(t);
  for (const length of [9_000, 33_000, 40_000, 64_000, 100_000]) {
    const text = await raw(`GET /${'x'.repeat(length)} HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n`);
    assert.match(text, /^HTTP\/1\.1 414 /, String(length));
  }
});

test('a URL that cannot be decoded is 400', async (t) => {
  const { call } = await startService(t);
  for (const path of [`${ORDERS}/%`, `${ORDERS}/%zz`, `${ORDERS}/%c3%28`, '/%ff']) {
    const answer = await call('DELETE', path);
    assert.equal(answer.status, 400, path);
    assert.equal(code(answer), 'bad_request');
  }
});

test('a URL that is too long is 414', async (t) => {
  const { call } = await startService(t);
  for (const path of [`${ORDERS}?${'x'.repeat(MAX_URL_BYTES)}`, `/${'x'.repeat(MAX_URL_BYTES)}`]) {
    const answer = await call('GET', path);
    assert.equal(answer.status, 414);
    assert.equal(code(answer), 'uri_too_long');
  }
  assert.equal((await call('DELETE', `${ORDERS}/${'9'.repeat(MAX_URL_BYTES)}`)).status, 414);
});

test('a body whose Content-Length exceeds the limit is 413 before it is read', async (t) => {
  const { call } = await startService(t);
  const headers = { 'content-length': String(MAX_BODY_BYTES + 1) };
  const answer = await call('DELETE', `${ORDERS}/1`, headers, 'x');
  assert.equal(answer.status, 413);
  assert.equal(code(answer), 'body_too_large');
  assert.equal(answer.headers.connection, 'close');
});

test('Keep-Alive states a timeout below the actual one, and is absent if the connection closes', async (t) => {
  const { call } = await startService(t);
  for (const [method, path] of [
    ['GET', ORDERS],
    ['DELETE', `${ORDERS}/1`],
    ['GET', '/nope'],
  ] as const) {
    const { headers } = await call(method, path);
    assert.equal(headers['keep-alive'], `timeout=${KEEP_ALIVE_MS / 1000}`);
  }
  assert.ok(KEEP_ALIVE_MS < IDLE_TIMEOUT_MS);
  const { headers } = await call('GET', `${ORDERS}#x`);
  assert.deepEqual([headers.connection, headers['keep-alive']], ['close', undefined]);
});

test('a valid X-Request-Id is echoed, an invalid one is replaced', async (t) => {
  const { call } = await startService(t);
  const sent = async (id: string) =>
    (await call('GET', ORDERS, { 'x-request-id': id })).headers['x-request-id'];
  for (const id of ['abc', 'A-1_2.3:4', '5f0c7a3e-8b1d-4c7e-9d55-2f6f0f3a9b10', 'x'.repeat(128)]) {
    assert.equal(await sent(id), id);
  }
  for (const id of ['', 'a b', 'x'.repeat(129), '<script>', 'é', 'so_live_abc']) {
    assert.notEqual(await sent(id), id);
  }
});

test('every request is logged in one line with its X-Request-Id', async (t) => {
  const { call, log } = await startService(t);
  const paths = [ORDERS, `${ORDERS}/1`, '/nope', `${ORDERS}/%zz`, '/openapi/v1.json'];
  for (const path of paths) {
    const answer = await call('GET', path);
    const id = String(answer.headers['x-request-id']);
    const lines = log()
      .split('\n')
      .filter((line) => line.includes(id));
    assert.equal(lines.length, 1, path);
    const line = JSON.parse(lines[0]!);
    assert.deepEqual([line.method, line.path, line.status], ['GET', path, answer.status]);
  }
});

test('a log line is valid JSON for any path, and records the key and address of the client', async (t) => {
  const { call, log, key } = await startService(t);
  for (const path of ['/v1/"\\', "/v1/'<>{}", '/v1/%22%0A', `${ORDERS}/${'9'.repeat(500)}`]) {
    const { status, headers, body } = await call('DELETE', path);
    const line = log()
      .split('\n')
      .find((each) => each.includes(`"${headers['x-request-id']}"`));
    const { level, time, ms, ...fields } = JSON.parse(line!);
    assert.equal(level, 30);
    assert.ok(Math.abs(Date.now() - time) < 60_000 && ms >= 0);
    const requestId = headers['x-request-id'];
    const { code } = JSON.parse(body);
    const caller = { key: key.id, client: '127.0.0.1' };
    const logged = { requestId, method: 'DELETE', path: path.slice(0, 200) };
    const expected = { ...logged, status, code, ...caller, msg: 'request' };
    assert.deepEqual(fields, expected);
  }
});

test('the path of BASE_URL moves every operation, but not the served contract', async (t) => {
  const { call } = await startService(t, { BASE_URL: 'https://pets.example/shop/v1/' });
  assert.equal((await call('GET', '/shop/v1/store/orders')).status, 200);
  assert.equal((await call('GET', '/v1/store/orders')).status, 404);
  assert.equal((await call('GET', '/openapi/v1.json')).status, 200);
  assert.equal((await call('GET', '/shop/v1/nope', { authorization: '' })).status, 401);
});

test('requests are counted by operation and status', async (t) => {
  const { call, metrics } = await startService(t);
  await call('GET', ORDERS);
  await call('GET', ORDERS, { authorization: '' });
  await call('DELETE', `${ORDERS}/1`);
  await call('GET', '/nope');
  const text = await metrics.registry.metrics();
  for (const [operation, version, status] of [
    ['listOrders', 'v1', 200],
    ['listOrders', 'v1', 401],
    ['cancelOrder', 'v1', 404],
    ['none', 'none', 404],
  ]) {
    const labels = `operation="${operation}",version="${version}",status="${status}"`;
    assert.ok(text.includes(`store_orders_http_requests_total{${labels}} 1`), labels);
    assert.ok(text.includes(`request_duration_seconds_count{${labels}} 1`), labels);
  }
});

test('refusals that repeating resolves have Retry-After, and no others', () => {
  const isRetried = (refusal: (typeof REFUSALS)[number]) =>
    refuse(refusal).headers.includes('retry-after');
  // Those of cancel_limit_reached and place_limit_reached depend on the key.
  assert.deepEqual(REFUSALS.filter(isRetried), [
    ...['read_limit_reached', 'stream_limit_reached'],
    ...['store_unavailable', 'too_many_tests', 'too_many_streams', 'list_not_read'],
  ]);
});

test('a URL, headers and a body of exactly the maximum size are accepted', async (t) => {
  const { call } = await startService(t);
  const url = `${ORDERS}?`.padEnd(MAX_URL_BYTES, 'x');
  assert.equal((await call('GET', url)).status, 200);
  assert.equal((await call('GET', `${url}x`)).status, 414);
  const head = async (bytes: number) =>
    (await call('GET', ORDERS, { 'x-long': 'x'.repeat(bytes) })).status;
  assert.equal(await head(MAX_HEADER_BYTES - 1_024), 200);
  assert.equal(await head(MAX_HEADER_BYTES), 431);
  const body = 'x'.repeat(MAX_BODY_BYTES);
  const announced = { 'content-length': String(MAX_BODY_BYTES) };
  const chunked = { 'transfer-encoding': 'chunked' };
  assert.equal((await call('DELETE', `${ORDERS}/1`, announced, body)).status, 404);
  assert.equal((await call('DELETE', `${ORDERS}/1`, chunked, body)).status, 404);
  assert.equal((await call('DELETE', `${ORDERS}/1`, chunked, `${body}x`)).status, 413);
});

test('a response that fails after its head was sent is destroyed and logged', async (t) => {
  const { server, call, log } = await startService(t);
  const handle = (exchange: Exchange) => {
    sendHead(exchange, 200, ['content-length', '9']);
    exchange.response.flushHeaders();
    throw new Error('half way');
  };
  server.router.addPublic('/half', handle);
  await assert.rejects(call('GET', '/half'), /aborted|hang up/);
  assert.match(log(), /"level":50.*half way.*"sending a response failed"/);
});

test('the log line of a 5xx response is a warning', async (t) => {
  const { call, log } = await startService(t, {}, (real) => ({
    ...real,
    keys: () => Promise.reject(new StoreUnavailable('gone', 'failed')),
  }));
  assert.equal((await call('GET', ORDERS)).status, 503);
  const lines = log().trim().split('\n');
  const { level } = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'request');
  assert.equal(level, 40);
});

test('X-Forwarded-For is logged shortened, redacted and without control characters', async (t) => {
  const { call, log, secret } = await startService(t);
  const logged = async (value: string) => {
    await call('GET', ORDERS, { 'x-forwarded-for': value });
    return JSON.parse(log().trim().split('\n').at(-1)!).forwardedFor;
  };
  assert.equal(await logged('10.0.0.1, 10.0.0.2'), '10.0.0.1, 10.0.0.2');
  assert.equal(await logged('10.0.0.1\u0085\u00ad'), '10.0.0.1??');
  assert.equal(await logged(secret), 'so_[secret]');
  assert.equal((await logged('1'.repeat(1_000))).length, 200);
});
