import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '../../src/service/settings/reader.ts';
import { pending, place, startService } from './harness.ts';

const ORIGIN = 'https://shop.example';
/** Origins that resemble the one that is allowed, and no origin. */
const OTHERS = [
  ...['https://evil.example', 'https://shop.example.evil.example', 'https://shop.example:8443'],
  ...['http://shop.example', 'https://evil-shop.example', 'https://www.shop.example'],
  ...['https://shop.exampl', 'https://Shop.example', 'HTTPS://shop.example', 'null', ''],
  ...['https://shop.example/', 'https://shop.example, https://evil.example'],
];
const PREFLIGHT = { origin: ORIGIN, 'access-control-request-method': 'POST', authorization: '' };

test('without CORS_ORIGINS no response has CORS headers, and a preflight request needs a key', async (t) => {
  const { call } = await startService(t);
  const { status, headers } = await call('OPTIONS', '/v1/store/orders', {
    ...PREFLIGHT,
    'x-request-id': 'x',
  });
  assert.equal(status, 401);
  assert.equal(headers['access-control-allow-origin'], undefined);
  assert.equal(headers.vary, undefined);
});

test('a preflight request of an allowed origin needs no key, and does not reveal which paths exist', async (t) => {
  const { call } = await startService(t, { CORS_ORIGINS: `${ORIGIN}, http://localhost:3000` });
  for (const path of ['/v1/store/orders/1', '/v2/store/orders', '/v2/nope']) {
    const { status, headers, body } = await call('OPTIONS', path, PREFLIGHT);
    assert.equal(status, 204, path);
    assert.equal(body, '');
    assert.equal(headers['access-control-allow-origin'], ORIGIN);
    assert.equal(headers['access-control-allow-methods'], 'GET, HEAD, POST, PATCH, DELETE');
    assert.equal(
      headers['access-control-allow-headers'],
      'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, traceparent, tracestate, X-Request-Id',
    );
    assert.equal(headers['access-control-max-age'], '600');
    assert.equal(headers.vary, 'Origin');
  }
  for (const origin of OTHERS) {
    const { status, headers } = await call('OPTIONS', '/v2/store', { ...PREFLIGHT, origin });
    assert.deepEqual([status, headers['access-control-allow-origin']], [401, undefined], origin);
  }
  // Without the header that makes it one, it is a request like any other.
  const plain = { origin: ORIGIN, authorization: '' };
  assert.equal((await call('OPTIONS', '/v2/store/orders', plain)).status, 401);
});

test('responses to an allowed origin, errors too, may be read with their headers', async (t) => {
  const { call, store } = await startService(t, { CORS_ORIGINS: ORIGIN });
  await place(store, pending(1n));
  for (const [path, vary] of [
    ['/v1/store/orders', 'Accept-Encoding, Origin'],
    ['/v2/store/orders/1', 'Origin'],
    ['/v2/store/orders/2', 'Origin'],
    ['/openapi/v2.json', 'Accept-Encoding, Origin'],
  ] as const) {
    const { headers } = await call('GET', path, { origin: ORIGIN });
    assert.equal(headers['access-control-allow-origin'], ORIGIN, path);
    assert.equal(
      headers['access-control-expose-headers'],
      'Accept, Accept-Patch, Allow, Deprecation, ETag, Idempotent-Replayed, Link, Location, Retry-After, Sunset, WWW-Authenticate, X-Request-Id',
    );
    assert.equal(headers.vary, vary, path);
    for (const origin of OTHERS) {
      const foreign = await call('GET', path, { origin });
      assert.equal(foreign.headers['access-control-allow-origin'], undefined, origin);
      assert.equal(foreign.headers.vary, vary);
    }
  }
});

test('"*" allows every origin, and the responses do not depend on it', async (t) => {
  const { call } = await startService(t, { CORS_ORIGINS: '*' });
  const { headers } = await call('GET', '/v2/store', { origin: 'https://any.example' });
  assert.equal(headers['access-control-allow-origin'], '*');
  assert.equal(headers.vary, undefined);
  const plain = await call('GET', '/v2/store');
  assert.equal(plain.headers['access-control-allow-origin'], '*');
});

test('responses to input that is not a valid request have the CORS headers too', async (t) => {
  for (const setting of [ORIGIN, '*']) {
    const service = await startService(t, { CORS_ORIGINS: setting });
    const head = `GET /v1/store/orders HTTP/1.1\r\nHost: a\r\nOrigin: ${ORIGIN}\r\n`;
    for (const [bytes, status] of [
      [`${head}Expect: something\r\n\r\n`, 417],
      [`${head}A: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
      [`${head}Content-Length: x\r\n\r\n`, 400],
    ] as const) {
      const text = await service.raw(bytes);
      assert.match(text, new RegExp(`^HTTP/1.1 ${status} `));
      assert.match(
        text,
        new RegExp(`\r\naccess-control-allow-origin: ${setting.replace('*', '\\*')}\r\n`),
      );
      assert.equal(/\r\nvary: Origin\r\n/.test(text), setting !== '*');
    }
  }
});

test('an origin that no browser sends is refused in the configuration', async (t) => {
  for (const value of ['shop.example', 'https://shop.example/', `${ORIGIN},*`, 'null']) {
    await assert.rejects(startService(t, { CORS_ORIGINS: value }), ConfigError, value);
  }
});

test('a request id may be the name of a header, whatever the response is', async (t) => {
  const { call, answersTo } = await startService(t, { CORS_ORIGINS: ORIGIN });
  const id = { 'x-request-id': 'vary' };
  for (const [method, headers, status] of [
    ['GET', { origin: ORIGIN }, 200],
    ['GET', { authorization: '' }, 401],
    ['OPTIONS', PREFLIGHT, 204],
  ] as const) {
    const answer = await call(method, '/v2/store', { ...headers, ...id });
    assert.equal(answer.status, status);
    assert.equal(answer.headers['x-request-id'], 'vary');
    assert.match(String(answer.headers.vary), /Origin$/);
  }
  const expecting = 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\nX-Request-Id: vary\r\n\r\n';
  const [answer] = await answersTo(expecting);
  assert.equal(answer!.status, 417);
  assert.equal(answer!.headers['x-request-id'], 'vary');
});
