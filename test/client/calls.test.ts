import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ForeignResponseError,
  InvalidRequestError,
  type PlannedRetry,
  parse,
  type ReceivedResponse,
  StoreOrders,
  StoreOrdersError,
  type StoreOrdersOptions,
  stringify,
  TimeoutError,
  UnavailableError,
  UnknownOutcomeError,
} from '../../client/src/client.ts';
import { settingsOf } from '../../client/src/settings.ts';
import { pending, place, startService } from '../http/harness.ts';
import { serverWith } from './foreign-server.ts';

/** A client whose requests would be a failure of the test. */
function unsent(options: Partial<StoreOrdersOptions> = {}): StoreOrders {
  const fetch = () => assert.fail('a request was sent');
  return new StoreOrders({ baseUrl: 'http://x.example', apiKey: 'x', fetch, ...options });
}

test('invalid options are a TypeError', () => {
  const wrong = { apiKey: 'x', baseUrl: 'https://x.example' };
  for (const options of [
    undefined,
    {},
    { apiKey: 'x' },
    { ...wrong, baseUrl: null },
    { ...wrong, baseUrl: 'x.example' },
    { ...wrong, baseUrl: 'ftp://x.example' },
    { ...wrong, apiKey: null },
    { ...wrong, fetch: 'fetch' },
    { ...wrong, onRetry: true },
    { ...wrong, headers: { 'x-y': 5 } },
    { ...wrong, headers: { 'x y': 'z' } },
    { ...wrong, headers: { Authorization: 'Bearer other' } },
    ...['retries', 'longestWaitMs', 'headersTimeoutMs', 'gapTimeoutMs'].flatMap((name) =>
      [null, Number.NaN, -1, '5', 5n].map((value) => ({ ...wrong, [name]: value })),
    ),
  ]) {
    assert.throws(
      () => new StoreOrders(options as never),
      TypeError,
      JSON.stringify(options, String),
    );
  }
});

test('invalid arguments are a TypeError, before anything is sent', async () => {
  const client = unsent();
  const order = { petId: 1n, quantity: 1n };
  const call = (value: unknown) => value as never;
  for (const idempotencyKey of [null, '', 5, 'a b', 'Käfig–1', '"a', 'x'.repeat(256)]) {
    await assert.rejects(client.placeOrder(order, call({ idempotencyKey })), TypeError);
  }
  for (const ifMatch of [null, '', 5, 'abc', '*', 'W/"a"']) {
    await assert.rejects(client.cancelOrder(1n, call({ ifMatch })), TypeError);
    await assert.rejects(client.shipOrder(1n, call({ ifMatch })), TypeError);
  }
  await assert.rejects(client.cancelOrder(1n, { ifMatch: 'W/"a"' }), /proxy has changed/);
  for (const ifNoneMatch of [null, '', 'abc']) {
    await assert.rejects(client.getOrder(1n, call({ ifNoneMatch })), TypeError);
    await assert.rejects(client.listOrders({}, call({ ifNoneMatch })), TypeError);
  }
  for (const options of [
    null,
    { signal: null },
    { signal: 5 },
    { timeoutMs: null },
    { timeoutMs: Number.NaN },
    { timeoutMs: 0 },
    { timeoutMs: '5' },
    { retries: -1 },
    { retries: 1.5 },
    { headers: { 'If-Match': 'x' } },
  ]) {
    await assert.rejects(client.cancelOrder(1n, call(options)), TypeError);
    await assert.rejects(client.v1.cancelOrder(1n, call(options)), TypeError);
    await assert.rejects(client.getStore(call(options)), TypeError);
  }
  for (const query of [
    { status: null },
    { status: 'open' },
    { status: ['pending', null] },
    { petId: null },
    { petId: 5 },
    { shipDateFrom: 5 },
    { shipDateFrom: new Date(Number.NaN) },
    { direction: 'up' },
    { limit: '5' },
    { limit: Number.NaN },
    { cursor: 5 },
  ]) {
    await assert.rejects(client.listOrders(call(query)), TypeError, JSON.stringify(query));
  }
  await assert.rejects(client.listChanges(call({ after: null })), TypeError);
  await assert.rejects(client.changes(call({ after: 5 })).next(), TypeError);
  await assert.rejects(async () => client.changes(call({ signal: 5 })).next(), TypeError);
  await assert.rejects(client.changes(call({ onLive: 5 })).next(), TypeError);
  await assert.rejects(client.placeOrder(call({ petId: 1n, quantity: null })), TypeError);
  await assert.rejects(client.placeOrder(call({ ...order, shipDate: null })), TypeError);
  await assert.rejects(client.shipOrder(1n, call({ shippedAt: 5 })), TypeError);
  await assert.rejects(client.getActivity(call([5, 6])), TypeError);
});

test('undefined is as if an option was not given', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const client = new StoreOrders({
    ...{ baseUrl: `http://127.0.0.1:${service.port}`, apiKey: service.secret },
    ...{ fetch: undefined, retries: undefined, headers: undefined, onRetry: undefined },
  });
  const options = { signal: undefined, timeoutMs: undefined, retries: undefined };
  const placed = await client.placeOrder(
    { petId: 1n, quantity: 1n, shipDate: undefined },
    { ...options, idempotencyKey: undefined },
  );
  assert.equal((await client.cancelOrder(placed.id, { ifMatch: undefined })).status, 'cancelled');
  const { orders } = await client.listOrders({ status: undefined, cursor: undefined }, options);
  assert.equal(orders.length, 2);
  // By the table of client/README.md.
  const { retries, longestWaitMs, headersTimeoutMs, gapTimeoutMs } = settingsOf({
    ...{ baseUrl: 'https://x.example', apiKey: 'x', retries: undefined },
  });
  assert.deepEqual(
    [retries, longestWaitMs, headersTimeoutMs, gapTimeoutMs],
    [5, 30_000, 10_000, 30_000],
  );
});

test('an abort of a change that may have been sent leaves its outcome unknown', async (t) => {
  const reason = new Error('enough');
  const controller = new AbortController();
  const clientWith = await serverWith(t, () => controller.abort(reason));
  const order = { petId: 1n, quantity: 1n };
  const idempotencyKey = 'cart-1';
  const { signal } = controller;
  await assert.rejects(clientWith().placeOrder(order, { signal, idempotencyKey }), (error) => {
    assert.ok(error instanceof UnknownOutcomeError);
    assert.equal(error.cause, reason);
    assert.equal(error.idempotencyKey, idempotencyKey);
    assert.match(error.requestId!, /^[0-9a-f]{16}\.1$/);
    return true;
  });
  // Nothing is sent with a signal that is aborted already.
  await assert.rejects(unsent().placeOrder(order, { signal }), reason);
  await assert.rejects(unsent().v1.cancelOrder(1n, { signal }), reason);
  const timeout = () => ({ signal: AbortSignal.timeout(50) });
  for (const call of [
    clientWith().cancelOrder(1n, timeout()),
    clientWith().v1.cancelOrder(1n, timeout()),
    clientWith().shipOrder(1n, { timeoutMs: 50 }),
  ]) {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof UnknownOutcomeError);
      assert.equal((error.cause as Error).name, 'TimeoutError');
      return true;
    });
  }
  await assert.rejects(clientWith().getStore({ timeoutMs: 50 }), TimeoutError);
});

test('a change that was refused and is aborted before its retry rejects with the reason of the abort', async (t) => {
  const clientWith = await serverWith(t, (_request, response) => {
    response.writeHead(429, { 'retry-after': '20' });
    response.end('{"code":"cancel_limit_reached","message":"x","status":429}');
  });
  const reason = new Error('enough');
  const controller = new AbortController();
  const client = clientWith({ onRetry: () => controller.abort(reason) });
  await assert.rejects(client.cancelOrder(1n, { signal: controller.signal }), reason);
});

test('a change whose connections are all refused was not sent; one that may have been sent before is unknown', async () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  let lost = 0;
  const client = new StoreOrders({
    ...{ baseUrl: 'http://x.example', apiKey: 'x', retries: 1 },
    fetch: async () => {
      if (lost > 0) {
        lost -= 1;
        throw new TypeError('terminated');
      }
      throw new TypeError('fetch failed', { cause: refused });
    },
  });
  await assert.rejects(client.cancelOrder(1n), { name: 'ConnectionError', nothingSent: true });
  lost = 1;
  await assert.rejects(client.cancelOrder(1n), { name: 'UnknownOutcomeError' });
});

test('a call can have its own number of retries', async (t) => {
  let requests = 0;
  const clientWith = await serverWith(t, (_request, response) => {
    requests += 1;
    response.writeHead(503).end();
  });
  await assert.rejects(clientWith().getStore({ retries: 1 }), UnavailableError);
  assert.equal(requests, 2);
});

test('every method rejects with StoreOrdersError for whatever another program answers', async (t) => {
  const bodies = [
    '',
    '<h1>Welcome</h1>',
    'null',
    '5',
    '1.5',
    '{"version":1.5,"took":1e3,"id":9007199254740993.5}',
    '[]',
    '[5]',
    '[null]',
    '[{"id":"1"}]',
    '{"orders":[{}],"changes":[{}],"periods":[5]}',
    '{"orders":null}',
    '{"code":"order_not_found"}',
    '['.repeat(200_000),
    Buffer.from([0xff, 0xfe]),
  ];
  let [status, body]: [number, string | Buffer] = [200, ''];
  const clientWith = await serverWith(t, (_request, response) => {
    response.writeHead(status, { etag: '"x"', 'content-type': 'application/json' }).end(body);
  });
  const client = clientWith({ retries: 0 });
  const calls = {
    listOrders: () => client.listOrders(),
    pages: () => client.pages().next(),
    orders: () => client.orders().next(),
    placeOrder: () => client.placeOrder({ petId: 1n, quantity: 1n }),
    getOrder: () => client.getOrder(1n),
    getOrderHistory: () => client.getOrderHistory(1n),
    cancelOrder: () => client.cancelOrder(1n),
    shipOrder: () => client.shipOrder(1n),
    listChanges: () => client.listChanges(),
    getKey: () => client.getKey(),
    countOrders: () => client.countOrders({ petId: 1n }),
    findOrders: () => client.findOrders({ ids: [1n] }),
    getStore: () => client.getStore(),
    getActivity: () => client.getActivity(['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']),
    'v1.cancelOrder': () => client.v1.cancelOrder(1n),
    'v1.getPet': () => client.v1.getPet(1n),
  };
  for (const each of bodies) {
    for (const code of [200, 201, 204, 302, 304, 404, 409, 418]) {
      [status, body] = [code, each];
      for (const [name, call] of Object.entries(calls)) {
        if (name === 'v1.cancelOrder' && code === 204) continue;
        const what = `${name}: ${code} ${String(each).slice(0, 60)}`;
        const changes = ['placeOrder', 'cancelOrder', 'shipOrder', 'v1.cancelOrder'];
        const family = changes.includes(name) ? UnknownOutcomeError : StoreOrdersError;
        await assert.rejects(call(), family, what);
      }
    }
  }
  // An empty list is one.
  [status, body] = [200, '[]'];
  assert.equal((await client.v1.listOrders().next()).done, true);
  for (const each of bodies.filter((item) => item !== '[]')) {
    body = each;
    await assert.rejects(client.v1.listOrders().next(), ForeignResponseError, String(each));
  }
});

test('a response that never ends is given up after a bounded number of bytes, or its time', async (t) => {
  let piece = Buffer.alloc(64 * 1024, ' ');
  let ms = 0;
  const clientWith = await serverWith(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = () => {
      if (response.destroyed) return;
      if (!response.write(piece)) response.once('drain', write);
      else if (ms === 0) setImmediate(write);
      else setTimeout(write, ms);
    };
    write();
  });
  const client = clientWith({ retries: 0, gapTimeoutMs: 5_000 });
  await assert.rejects(client.getStore(), /longer than/);
  await assert.rejects(client.v1.listOrders().next(), ForeignResponseError);
  piece = Buffer.from('[{"id":"'.padEnd(64 * 1024, 'x'));
  await assert.rejects(client.v1.listOrders().next(), ForeignResponseError);
  [piece, ms] = [Buffer.from(' '), 5];
  await assert.rejects(clientWith({ retries: 0, gapTimeoutMs: 200 }).getStore(), TimeoutError);
});

test('a proxy that answers every page with the same one does not make a walk endless', async () => {
  const record = '"revision":1,"head":"h","changesAfter":"c"';
  const answering = (body: string) =>
    new StoreOrders({
      ...{ baseUrl: 'http://x.example', apiKey: 'x', retries: 0 },
      fetch: async () => new Response(body),
    });
  const pages = answering(`{"orders":[],"next":"same",${record}}`).pages();
  await assert.rejects(Array.fromAsync(pages), ForeignResponseError);
  const client = answering('{"changes":[],"next":"same","more":true,"revision":1,"head":"h"}');
  await assert.rejects(client.listChanges({ after: 'same' }), ForeignResponseError);
});

test('each request has an X-Request-Id, which its errors carry', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const ids: string[] = [];
  const recording: typeof fetch = async (input, init) => {
    const id = new Headers(init?.headers).get('x-request-id')!;
    const response = await fetch(input, init);
    assert.equal(response.headers.get('x-request-id'), id);
    ids.push(id);
    if (ids.length === 1) throw new TypeError('terminated');
    return response;
  };
  const baseUrl = `http://127.0.0.1:${service.port}`;
  const client = new StoreOrders({ baseUrl, apiKey: service.secret, fetch: recording });
  await client.cancelOrder(1n);
  await assert.rejects(client.cancelOrder(1n), (error) => {
    assert.ok(error instanceof ConflictError);
    assert.equal(error.requestId, ids[2]);
    assert.equal(error.order?.status, 'cancelled');
    return true;
  });
  assert.deepEqual([ids[0]!.slice(-2), ids[1]!.slice(-2)], ['.1', '.2']);
  assert.equal(new Set(ids).size, 3);
  const unreachable = new StoreOrders({ baseUrl: 'http://127.0.0.1:1', apiKey: 'x', retries: 0 });
  await assert.rejects(unreachable.getStore(), (error) => {
    assert.ok(error instanceof ConnectionError);
    assert.match(error.requestId!, /^[0-9a-f]{16}\.1$/);
    return true;
  });
});

test('hooks see each response and each repetition, and cannot change a result', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const printed = t.mock.method(console, 'error', () => {});
  const responses: ReceivedResponse[] = [];
  const retries: PlannedRetry[] = [];
  let sent = 0;
  const client = new StoreOrders({
    ...{ baseUrl: `http://127.0.0.1:${service.port}`, apiKey: service.secret },
    fetch: async (input, init) => {
      sent += 1;
      if (sent === 1) return new Response('busy', { status: 503 });
      return fetch(input, init);
    },
    onResponse: (response) => {
      responses.push(response);
      throw new Error('a faulty hook');
    },
    onRetry: (retry) => {
      retries.push(retry);
      throw new Error('a faulty hook');
    },
  });
  assert.equal((await client.cancelOrder(1n)).status, 'cancelled');
  assert.deepEqual(
    responses.map(({ operation, method, path, status, attempt }) => [
      ...[operation, method, path, status, attempt],
    ]),
    [
      ['cancelOrder', 'POST', '/v2/store/orders/1/cancel', 503, 1],
      ['cancelOrder', 'POST', '/v2/store/orders/1/cancel', 200, 2],
    ],
  );
  assert.ok(responses.every(({ durationMs }) => durationMs >= 0));
  const [{ error, waitMs, attempt }] = retries as [PlannedRetry];
  assert.ok(error instanceof UnavailableError && waitMs > 0);
  assert.equal(attempt, 1);
  assert.equal(printed.mock.callCount(), 3);
});

test('headers of the client and of the call are sent', async () => {
  const found: (string | null)[][] = [];
  const client = new StoreOrders({
    ...{ baseUrl: 'http://x.example', apiKey: 'x', headers: { 'x-team': 'web', 'X-Both': '1' } },
    fetch: async (_input, init) => {
      const headers = new Headers(init?.headers);
      found.push(['x-team', 'traceparent', 'x-both'].map((name) => headers.get(name)));
      return new Response(null, { status: 204, headers: { 'x-request-id': 'x' } });
    },
  });
  await client.v1.cancelOrder(1n, { headers: { traceparent: '00-1', 'x-both': '2' } });
  assert.deepEqual(found, [['web', '00-1', '2']]);
});

/** The wait that is planned before a response is repeated, in milliseconds; undefined if the call ends with it. */
async function waitAfter(response: Response): Promise<number | undefined> {
  const ending = new AbortController();
  let wait: number | undefined;
  const client = new StoreOrders({
    ...{ baseUrl: 'http://x.example', apiKey: 'x', fetch: async () => response },
    onRetry: ({ waitMs }) => {
      wait = waitMs;
      ending.abort();
    },
  });
  await assert.rejects(client.getStore({ signal: ending.signal }));
  return wait;
}

test('Retry-After is waited for, up to 30 s; it is seconds, or a date by the clock of the server', async () => {
  const date = 'Sun, 22 Nov 2026 12:00:00 GMT';
  const body = '{"code":"store_unavailable","message":"x","status":503}';
  for (const [retryAfter, expected] of [
    ['30', 30_000],
    ['31', undefined],
    [date.replace('12:00:00', '12:00:30'), 30_000],
    [date.replace('12:00:00', '12:00:31'), undefined],
  ] as const) {
    for (const text of [body, '<h1>Busy</h1>']) {
      const headers = { date, 'retry-after': retryAfter };
      const wait = await waitAfter(new Response(text, { status: 503, headers }));
      assert.equal(wait, expected, retryAfter);
    }
  }
});

test('408, 429 and what cannot be answered now is repeated, a refusal never', async () => {
  // As the service sends them.
  const headers = {
    ...{ 'x-request-id': 'a', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
  };
  for (const [statuses, isRepeated] of [
    [[408, 429, 500, 502, 503, 504, 520], true],
    [[400, 401, 403, 404, 405, 409, 410, 412, 413, 414, 415, 417, 422, 431], false],
    [[501, 505, 507], false],
  ] as const) {
    for (const status of statuses) {
      const body = JSON.stringify({ code: 'later', message: 'x', status });
      const wait = await waitAfter(new Response(body, { status, headers }));
      assert.equal(wait !== undefined, isRepeated, String(status));
    }
  }
});

test('after a lost response, a refusal settles a change only if it shows that the change was not made', async () => {
  for (const [status, code, isSettled] of [
    [404, 'order_not_found', true],
    [404, 'invalid_order_id', true],
    [409, 'order_already_cancelled', true],
    [409, 'order_already_shipped', true],
    [412, 'order_changed', true],
    [412, 'reference_differs', true],
    [403, 'scope_missing', false],
    [401, 'api_key_revoked', false],
  ] as const) {
    let sent = 0;
    const client = new StoreOrders({
      ...{ baseUrl: 'http://x.example', apiKey: 'x' },
      fetch: async () => {
        sent += 1;
        if (sent === 1) throw new TypeError('terminated');
        return Response.json({ code, message: 'x', status }, { status });
      },
    });
    const expected = isSettled ? { code, status } : { name: 'UnknownOutcomeError' };
    await assert.rejects(client.shipOrder(1n), expected);
  }
});

test('a finished call leaves no abort listeners on its signal', async (t) => {
  const service = await startService(t);
  await place(service.store, ...[1n, 2n, 3n].map((id) => pending(id)));
  const baseUrl = `http://127.0.0.1:${service.port}`;
  const client = new StoreOrders({ baseUrl, apiKey: service.secret });
  const { signal } = new AbortController();
  const options = { signal, timeoutMs: 60_000 };
  await client.getStore(options);
  await client.cancelOrder(1n, options);
  await client.v1.cancelOrder(2n, options);
  await assert.rejects(client.cancelOrder(1n, options), ConflictError);
  const { etag } = await client.countOrders({}, options);
  await client.countOrders({}, { ...options, ifNoneMatch: etag });
  await Array.fromAsync(client.orders({}, options));
  await Array.fromAsync(client.v1.listOrders(options));
  for await (const _ of client.v1.listOrders(options)) break;
  for await (const _ of client.orders({}, options)) break;
  for await (const _ of client.changes({ signal })) break;
  for await (const _ of client.replica({ signal })) break;
  client.changes({ signal });
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('return() ends an iteration at once, even while it waits', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const baseUrl = `http://127.0.0.1:${service.port}`;
  const client = new StoreOrders({ baseUrl, apiKey: service.secret });
  const silent = (await serverWith(t, () => {}))();
  const live = client.changes({ after: 'now' });
  const replica = client.replica();
  await replica.next();
  for (const iteration of [
    live,
    replica,
    silent.changes(),
    silent.replica(),
    silent.orders(),
    silent.v1.listOrders(),
  ]) {
    const waiting = iteration.next();
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual(await iteration.return(), { done: true, value: undefined });
    assert.deepEqual(await waiting, { done: true, value: undefined });
    assert.deepEqual(await iteration.next(), { done: true, value: undefined });
  }
});

test('following changes ends when the key is refused', async () => {
  const body = '{"code":"api_key_revoked","message":"x","status":401}';
  let requests = 0;
  const client = new StoreOrders({
    ...{ baseUrl: 'http://x.example', apiKey: 'x', longestWaitMs: 5 },
    fetch: async () => {
      requests += 1;
      if (requests < 20) return new Response('<h1>Unauthorized</h1>', { status: 401 });
      return new Response(body, { status: 401 });
    },
  });
  await assert.rejects(client.changes().next(), AuthenticationError);
  assert.equal(requests, 20);
});

test('a runtime that rounds integers is refused by the constructor', async (t) => {
  // As in Node.js 20: the reviver gets no source.
  const { parse: original } = JSON;
  t.mock.method(JSON, 'parse', (text: string, reviver?: (key: string, value: unknown) => unknown) =>
    original(text, reviver && ((key, value) => reviver(key, value))),
  );
  const fresh = await import(`../../client/src/exact-json.ts?${Date.now()}`);
  assert.throws(fresh.expectExactIntegers, { name: 'StoreOrdersError' });
});

test('stringify writes records with every digit, and parse reads them', () => {
  const record = { id: 9007199254740993n, status: 'pending', nested: [-(2n ** 63n), 5, null] };
  const written =
    '{"id":9007199254740993,"status":"pending","nested":[-9223372036854775808,5,null]}';
  assert.equal(stringify(record), written);
  assert.deepEqual(parse(written), { ...record, nested: [-(2n ** 63n), 5n, null] });
  assert.equal(stringify({ id: 1n }, 2), '{\n  "id": 1\n}');
});

test('an order has one reference, under which it is placed once and never mistaken for another', async (t) => {
  const { port, secret } = await startService(t);
  const client = new StoreOrders({ baseUrl: `http://127.0.0.1:${port}`, apiKey: secret });
  const order = { petId: 1n, quantity: 2n, shipDate: new Date(0), reference: 'Größe "5" 50%' };
  const placed = await client.placeOrder(order);
  assert.deepEqual([placed.reference, placed.isReplayed], [order.reference, false]);
  const other = { reference: 'another' };
  await assert.rejects(client.shipOrder(placed.id, other), { code: 'reference_differs' });
  await assert.rejects(client.cancelOrder(placed.id, { reference: '' }), InvalidRequestError);
  const shipped = await client.shipOrder(placed.id, { reference: order.reference });
  // The date of the order is now that of the shipment.
  assert.deepEqual(await client.placeOrder(order), { ...shipped, isReplayed: true });
  const changed = { ...order, quantity: 3n };
  await assert.rejects(client.placeOrder(changed), { code: 'reference_taken', status: 409 });
  const found = await Array.fromAsync(client.orders({ reference: order.reference }));
  assert.deepEqual(
    found.map(({ id }) => id),
    [placed.id],
  );
});

test('several orders are changed in requests of 1,000, with progress, and repeated safely', async (t) => {
  const { port, secret, store } = await startService(t);
  const ids = Array.from({ length: 2_100 }, (_, index) => 2n ** 62n + BigInt(index));
  for (let from = 0; from < ids.length; from += 700) {
    await place(store, ...ids.slice(from, from + 700).map(pending));
  }
  let requests = 0;
  const client = new StoreOrders({
    ...{ baseUrl: `http://127.0.0.1:${port}`, apiKey: secret, retries: 3 },
    fetch: async (input, init) => {
      requests += 1;
      const response = await fetch(input, init);
      // The first response of each request is lost.
      if (requests % 2 === 1) throw new TypeError('fetch failed');
      return response;
    },
  });
  const progress: number[] = [];
  const results = await client.cancelOrders([...ids, 5n], {
    onProgress: (soFar) => progress.push(soFar.length),
  });
  assert.deepEqual([requests, progress], [6, [1_000, 2_000, 2_101]]);
  assert.deepEqual(
    results.map(({ id }) => id),
    [...ids, 5n],
  );
  assert.ok(results.slice(0, -1).every(({ order }) => order?.status === 'cancelled'));
  assert.equal(results.at(-1)!.error?.code, 'order_not_found');
  assert.equal((await store.status()).orders.cancelled, 2_100n);
});

test('atomic changes of several orders are all or none, and arguments are checked before anything is sent', async (t) => {
  const { port, secret, store } = await startService(t);
  await place(store, pending(1n), { ...pending(2n), reference: 'a' }, pending(3n));
  const client = new StoreOrders({ baseUrl: `http://127.0.0.1:${port}`, apiKey: secret });
  const { etag } = await client.getOrder(1n);
  const all = [{ id: 1n, etag }, { id: 2n, reference: 'b' }, 3n];
  await assert.rejects(client.shipOrders(all, { atomic: true }), (error) => {
    assert.ok(error instanceof ConflictError && error.code === 'orders_not_changed');
    const [{ pointer, id, code } = {}] = error.problems;
    assert.deepEqual([pointer, id, code], ['/orders/1', 2n, 'reference_differs']);
    return true;
  });
  const shippedAt = new Date(0);
  const shipped = await client.shipOrders([{ id: 2n, reference: 'a' }, 3n], {
    atomic: true,
    shippedAt,
  });
  assert.deepEqual(
    shipped.map(({ order }) => order?.shipDate),
    Array(2).fill(shippedAt.toISOString()),
  );
  assert.deepEqual(await client.cancelOrders([]), []);
  for (const wrong of [
    ...[[1], ['1'], [null], [{ id: 1 }], [{ id: 1n, etag: 5 }]],
    ...[[1n, 1n], [1n, { id: 1n }], [{ id: 1n, etg: etag }]],
  ]) {
    await assert.rejects(client.cancelOrders(wrong as never), TypeError);
  }
  const many = Array.from({ length: 1_001 }, (_, index) => BigInt(index));
  await assert.rejects(client.cancelOrders(many, { atomic: true }), TypeError);
  const long = { idempotencyKey: 'k'.repeat(255) };
  await assert.rejects(client.cancelOrders([...many, 1_001n], long), TypeError);
});

test('without a valid certificate, or without TLS, a call fails at once, and has changed nothing', async (t) => {
  const file = (name: string) => readFileSync(new URL(`../tls/${name}`, import.meta.url));
  const selfSigned = createHttpsServer({
    cert: file('server.crt'),
    key: file('server.key'),
  }).listen(0, '127.0.0.1');
  const plain = createServer((_, response) => response.end('plain')).listen(0, '127.0.0.1');
  t.after(() => [selfSigned.close(), plain.close()]);
  await Promise.all([once(selfSigned, 'listening'), once(plain, 'listening')]);
  for (const server of [selfSigned, plain]) {
    const { port } = server.address() as AddressInfo;
    const retried: unknown[] = [];
    const store = new StoreOrders({
      ...{ baseUrl: `https://localhost:${port}`, apiKey: 'k' },
      onRetry: (retry) => retried.push(retry),
    });
    for (const call of [() => store.cancelOrder(1n), () => store.getStore()]) {
      await assert.rejects(call(), (error: unknown) => {
        assert.ok(error instanceof ConnectionError, String(error));
        assert.equal(error.name, 'ConnectionError');
        assert.match(error.message, /no TLS connection could be made: ./);
        assert.deepEqual([error.nothingSent, error.isFinal], [true, true]);
        return true;
      });
    }
    assert.deepEqual(retried, []);
  }
});

for (const code of [
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
]) {
  test(`${code} is final`, async () => {
    let requests = 0;
    const fetch = async () => {
      requests += 1;
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error('not valid'), { code }),
      });
    };
    const store = new StoreOrders({ baseUrl: 'https://store.example', apiKey: 'k', fetch });
    await assert.rejects(store.cancelOrder(1n), { name: 'ConnectionError', isFinal: true });
    assert.equal(requests, 1);
  });
}

test('a permanent redirect ends the call at once, and names its target', async () => {
  for (const status of [301, 308]) {
    let requests = 0;
    const fetch = async () => {
      requests += 1;
      return new Response('', { status, headers: { location: 'https://other.example/v2' } });
    };
    const store = new StoreOrders({ baseUrl: 'http://store.example', apiKey: 'k', fetch });
    const target = /redirect to https:\/\/other\.example\/v2/;
    await assert.rejects(store.getOrder(1n), { name: 'ForeignResponseError', message: target });
    // A proxy may have forwarded the request first.
    await assert.rejects(store.cancelOrder(1n), { name: 'UnknownOutcomeError', message: target });
    assert.equal(requests, 2);
  }
});
