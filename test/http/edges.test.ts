import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pending, place, startService, testService } from './harness.ts';

/** Requests of clients, proxies and libraries that are rare, but have a meaning in RFC 9110 to 9112. */
const ORDERS = '/v2/store/orders';
const code = ({ body }: { body: string }) => JSON.parse(body).code;

test('a malformed Host header is 400, and so is an absolute URL without a host or with credentials', async (t) => {
  const { answersTo, secret } = await startService(t);
  const statusOf = async (line: string, host: string) => {
    const head = `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
    const [answer, ...others] = await answersTo(head);
    assert.deepEqual(others, []);
    return answer!.status;
  };
  for (const host of [
    'a b',
    'u:p@a',
    'a/b',
    'a:b',
    'a:123456',
    'a?b',
    '[::1',
    '[g]',
    'a%zz',
    'é',
    'a,b c',
    ':80',
    '[:::]',
    '[1.2.3.4]',
  ]) {
    assert.equal(await statusOf('GET /v2/key', host), 400, host);
  }
  for (const host of [
    'a',
    'a.example:8080',
    '[::1]:80',
    '127.0.0.1',
    '',
    'xn--bcher-kva.example',
    'a_b',
    'a%41',
    'a:',
  ]) {
    assert.equal(await statusOf('GET /v2/key', host), 200, host);
  }
  for (const target of [
    'http:///v2/key',
    'http://:80/v2/key',
    'http://u:p@a/v2/key',
    'https://a b/v2/key',
  ]) {
    assert.equal(await statusOf(`GET ${target}`, 'a'), 400, target);
  }
  for (const target of [
    'http://a/v2/key',
    'https://a.example:8443/v2/key',
    'http://[::1]/v2/key',
  ]) {
    assert.equal(await statusOf(`GET ${target}`, 'a'), 200, target);
  }
});

test('a key without the scope of an operation is 403, which names the scope in header (RFC 6750) and body', async (t) => {
  const { call, newKey } = await startService(t);
  const authorization = `Bearer ${await newKey({ scopes: ['changes:read'] })}`;
  for (const [method, path, scope] of [
    ['GET', '/v1/store/orders', 'orders:read'],
    ['DELETE', '/v1/store/orders/1', 'orders:cancel'],
    ['POST', `${ORDERS}/1/ship`, 'orders:ship'],
    ['GET', '/v2/webhooks', 'webhooks:manage'],
  ] as const) {
    const { status, headers, body } = await call(method, path, { authorization });
    assert.equal(status, 403);
    assert.ok(JSON.parse(body).message.endsWith(` It needs ${scope}.`), body);
    const expected = `Bearer realm="store-orders", error="insufficient_scope", scope="${scope}"`;
    assert.equal(headers['www-authenticate'], expected);
  }
});

test('the detail of a time names what is wrong with it', async (t) => {
  const { call } = await startService(t);
  for (const [time, detail] of [
    ['2026-02-29T00:00:00Z', 'must be an existing day and time in the years 0000 to 9999'],
    ['2026-11-27T24:00:00Z', 'must be an existing day and time in the years 0000 to 9999'],
    ['2026-11-27T10:00:00', /^must be a date-time with an offset, such as/],
    ['2026-11-27T10:00:00%2B0100', /^must be a date-time whose offset has a colon/],
  ] as const) {
    const { body } = await call('GET', `${ORDERS}?updatedFrom=${time}`);
    assert.match(JSON.parse(body).errors[0].detail, new RegExp(detail), time);
  }
});

test('a list that is sent as several parameters, and JSON that is nested too deeply, are named', async (t) => {
  const { call } = await startService(t);
  const { body } = await call('GET', `${ORDERS}?status=pending&status=shipped`);
  const [problem] = JSON.parse(body).errors;
  assert.equal(problem.detail, 'must be sent only once, with commas between its values');
  const deep = `{"petId":1,"quantity":1,"reference":${'['.repeat(9_000)}${']'.repeat(9_000)}}`;
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
  const answer = await call('POST', ORDERS, headers, deep);
  assert.equal(JSON.parse(answer.body).errors[0].detail, 'is nested too deeply');
});

const PLACEMENT = '{"petId":1,"quantity":1}';

test('parameters of a media type are ignored, empty ones too, but for another charset (RFC 9110, 5.6.6)', async (t) => {
  const { call } = await startService(t);
  const placed = async (headers: Record<string, string>) =>
    call(
      'POST',
      ORDERS,
      { 'idempotency-key': JSON.stringify(headers).replaceAll(/[^\w]/g, ''), ...headers },
      PLACEMENT,
    );
  for (const type of [
    'application/json;',
    'application/json; ',
    'application/json ;; charset=utf-8 ;',
    'application/json; odata.metadata=minimal',
    'application/json;odata.metadata=minimal;charset="UTF-8"',
    'APPLICATION/JSON; x="a;charset=latin1"',
  ]) {
    assert.equal((await placed({ 'content-type': type })).status, 201, type);
  }
  for (const type of [
    'application/json; charset=latin1',
    'application/json;x=1; charset="utf-16"',
    'application/json x',
    'application/json; charset',
    'application/json, text/plain',
    'application/jsonp',
    `application/json;${' '.repeat(30_000)}x`,
    'text/plain',
  ]) {
    const answer = await placed({ 'content-type': type });
    assert.equal(answer.status, 415, type);
    assert.equal(answer.headers.accept, 'application/json');
  }
  for (const coding of ['Identity', 'identity', 'IDENTITY, identity', '']) {
    const headers = { 'content-type': 'application/json', 'content-encoding': coding };
    assert.equal((await placed(headers)).status, 201, coding);
  }
  for (const coding of ['gzip', 'identity, gzip', 'x']) {
    const headers = { 'content-type': 'application/json', 'content-encoding': coding };
    const answer = await placed(headers);
    assert.equal(answer.status, 415, coding);
    assert.equal(answer.headers['accept-encoding'], 'identity');
  }
});

test('several Content-Type headers are 415, whatever the first one is', async (t) => {
  const { answersTo, secret } = await startService(t);
  const body = '{"petId":1}';
  const lines = [
    'POST /v2/store/orders HTTP/1.1',
    'Host: a',
    'Connection: close',
    `Authorization: Bearer ${secret}`,
    'Idempotency-Key: a',
    `Content-Length: ${body.length}`,
    'Content-Type: application/json',
    'Content-Type: application/json; charset=latin1',
  ];
  const [answer] = await answersTo(`${lines.join('\r\n')}\r\n\r\n${body}`);
  assert.equal(answer!.status, 415);
});

testService(
  'a plus sign in a query is a blank, as forms and most libraries write it',
  async (t) => {
    const { call, store } = await startService(t);
    const json = { 'content-type': 'application/json' };
    for (const reference of ['PO 815', 'PO+815', 'ä ö']) {
      const body = JSON.stringify({ petId: 1, quantity: 1, reference });
      await call(
        'POST',
        ORDERS,
        { ...json, 'idempotency-key': encodeURIComponent(reference) },
        body,
      );
    }
    for (const [query, reference] of [
      ['PO+815', 'PO 815'],
      ['PO%20815', 'PO 815'],
      ['PO%2B815', 'PO+815'],
      [new URLSearchParams({ reference: 'ä ö' }).toString().slice('reference='.length), 'ä ö'],
    ] as const) {
      for (const path of [ORDERS, '/v2/store/counts']) {
        const { status, body } = await call('GET', `${path}?reference=${query}`);
        assert.equal(status, 200);
        if (path === ORDERS) {
          const found = JSON.parse(body).orders.map(
            (order: { reference: string }) => order.reference,
          );
          assert.deepEqual(found, [reference]);
        } else assert.equal(JSON.parse(body).counts.pending, 1);
      }
    }
    await place(store, pending(10n));
    // An offset has a plus sign, and no blank.
    const { status } = await call('GET', `${ORDERS}?placedFrom=2020-01-01T00:00:00+01:00`);
    assert.equal(status, 200);
    assert.equal((await call('GET', `${ORDERS}?placedFrom=2020-01-01+00:00:00Z`)).status, 400);
  },
);

test('what an Error record repeats of a request is never half a character or half an escape', async (t) => {
  const { call } = await startService(t);
  const json = { 'content-type': 'application/json', 'idempotency-key': 'a' };
  for (let length = 90; length < 104; length += 1) {
    for (const end of ['😀😀😀', '~~~~~', '/////', '~😀~😀']) {
      const name = 'x'.repeat(length) + end;
      const answers = await Promise.all([
        call('POST', ORDERS, json, JSON.stringify({ petId: 1, quantity: 1, [name]: 1 })),
        call('GET', `${ORDERS}?${encodeURIComponent(name)}=1`),
        call('POST', ORDERS, json, `{"${name.slice(60)}":1,"${name.slice(60)}":1}`),
      ]);
      for (const { status, body } of answers) {
        assert.equal(status, 400);
        const record = JSON.parse(body);
        for (const { pointer = '', parameter = '', detail } of record.errors) {
          assert.ok([pointer, parameter, detail].every((text) => text.isWellFormed()));
          assert.doesNotMatch(pointer, /~(?![01])/);
          assert.doesNotMatch(detail, /\\ud/);
        }
      }
    }
  }
});

testService(
  'a path parameter that no id can be is 404, and no parameter can fail the store',
  async (t) => {
    const { call } = await startService(t);
    for (const id of ['%00', 'a%00b', '%F0%9F%98%80', 'wh_1', "'", 'x'.repeat(1_000)]) {
      for (const [method, path, expected] of [
        ['GET', `/v2/webhooks/${id}`, 'webhook_not_found'],
        ['DELETE', `/v2/webhooks/${id}`, 'webhook_not_found'],
        ['POST', `/v2/webhooks/${id}/rotate-secret`, 'webhook_not_found'],
        ['POST', `/v2/webhooks/${id}/test`, 'webhook_not_found'],
        ['GET', `/v2/store/orders/${id}`, 'invalid_order_id'],
        ['GET', `/v2/store/orders/${id}/history`, 'invalid_order_id'],
        ['DELETE', `/v1/store/orders/${id}`, 'invalid_order_id'],
        ['GET', `/v1/pets/${id}`, 'invalid_pet_id'],
      ] as const) {
        const answer = await call(method, path);
        assert.equal(answer.status, 404, `${method} ${path}`);
        assert.equal(code(answer), expected);
      }
    }
    const names = [
      'status',
      'petId',
      'reference',
      'shipDateFrom',
      'placedBefore',
      'sort',
      'cursor',
      'limit',
    ];
    for (const value of ['%00', 'a%00', '%F0%9F%98%80%00']) {
      for (const name of names) {
        assert.equal((await call('GET', `${ORDERS}?${name}=${value}`)).status, 400, name);
      }
      for (const name of ['after', 'by', 'type', 'petId']) {
        for (const path of ['changes', 'changes/stream']) {
          assert.equal((await call('GET', `/v2/store/${path}?${name}=${value}`)).status, 400, name);
        }
      }
      assert.equal((await call('GET', `/v2/store/activity?boundaries=${value}`)).status, 400);
    }
  },
);

testService('many counts and activities at the same time all get their answer', async (t) => {
  const { call } = await startService(t);
  const paths = Array.from({ length: 40 }, (_, index) =>
    index % 2 === 0
      ? `/v2/store/counts?petId=${index}`
      : '/v2/store/activity?boundaries=2026-01-01T00:00:00Z,2026-02-01T00:00:00Z',
  );
  const answers = await Promise.all(paths.map((path) => call('GET', path)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
});
