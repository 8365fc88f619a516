import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderJson } from '../../../src/domain/order.ts';
import { type Store, StoreUnavailable } from '../../../src/store/store.ts';
import { pending, place, startService, testService } from '../../http/harness.ts';
import { open } from '../../store/engines.ts';

const ORDERS = '/v1/store/orders';

testService('the list of an empty store is an empty array', async (t) => {
  const { call } = await startService(t);
  const answer = await call('GET', ORDERS);
  assert.equal(answer.status, 200);
  assert.equal(answer.body, '[]');
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(Number(answer.headers['content-length']), 2);
});

testService(
  'all pending and shipped orders are listed by ascending id, with exact int64 values',
  async (t) => {
    const { call, store } = await startService(t);
    const ids = [2n ** 53n + 1n, 2n ** 53n, -5n, 2n ** 63n - 1n, 0n, 7n];
    await place(store, ...ids.map(pending));
    await store.apply([
      { type: 'ship', id: 7n, at: 1 },
      { type: 'cancel', id: 0n },
    ]);
    const { body } = await call('GET', ORDERS);
    const listed = [
      pending(-5n),
      { ...pending(7n), shipDate: 1, complete: true },
      pending(2n ** 53n),
      pending(2n ** 53n + 1n),
      pending(2n ** 63n - 1n),
    ];
    assert.equal(body, `[${listed.map(orderJson).join(',')}]`);
  },
);

test('an order without optional fields is listed with its id alone', async (t) => {
  const { call, store } = await startService(t);
  await place(store, { id: 1n, status: 'pending' });
  assert.equal((await call('GET', ORDERS)).body, '[{"id":1}]');
});

test('query parameters are ignored', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n), pending(2n));
  const { body } = await call('GET', ORDERS);
  assert.equal((await call('GET', `${ORDERS}?limit=1&status=shipped&page=9`)).body, body);
});

testService(
  'the ETag is strong, consists of the revision and its head, and changes only with the list',
  async (t) => {
    const { call, store } = await startService(t);
    await place(store, pending(1n));
    const expectedEtag = async () => {
      const { revision, head } = await store.status();
      return `"${revision}-${head!.slice(0, 16)}"`;
    };
    const first = (await call('GET', ORDERS)).headers.etag;
    assert.equal(first, await expectedEtag());
    assert.equal((await call('GET', ORDERS)).headers.etag, first);
    await call('DELETE', `${ORDERS}/99`);
    assert.equal(
      (await call('GET', ORDERS)).headers.etag,
      first,
      'a refused cancel does not change the ETag',
    );
    await call('DELETE', `${ORDERS}/1`);
    const { etag } = (await call('GET', ORDERS)).headers;
    assert.notEqual(etag, first);
    assert.equal(etag, await expectedEtag());
  },
);

test('If-None-Match is 304 while the list is unchanged, and 200 otherwise', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n));
  const etag = String((await call('GET', ORDERS)).headers.etag);
  const same = [etag, `W/${etag}`, `"other", ${etag}`, `"a,b",W/${etag} , "c"`, '*', `,${etag}`];
  for (const value of same) {
    const answer = await call('GET', ORDERS, { 'if-none-match': value });
    assert.equal(answer.status, 304, value);
    assert.equal(answer.headers.etag, etag);
    assert.equal(answer.headers['cache-control'], 'private, no-cache');
  }
  const others = ['"other"', etag.slice(1, -1), `"${etag}"`, `${etag.slice(0, -1)}`, 'W/"*"', '""'];
  for (const value of others) {
    assert.equal((await call('GET', ORDERS, { 'if-none-match': value })).status, 200, value);
  }
  await store.apply([{ type: 'cancel', id: 1n }]);
  assert.equal((await call('GET', ORDERS, { 'if-none-match': etag })).status, 200);
});

test('HEAD returns the headers of GET without the body', async (t) => {
  const { call, store } = await startService(t);
  await place(store, ...Array.from({ length: 3_000 }, (_, index) => pending(BigInt(index))));
  const get = await call('GET', ORDERS);
  const head = await call('HEAD', ORDERS);
  assert.equal(head.status, 200);
  for (const name of ['etag', 'content-length', 'content-type', 'cache-control']) {
    assert.equal(String(head.headers[name]), String(get.headers[name]), name);
  }
  const etag = String(get.headers.etag);
  assert.equal((await call('HEAD', ORDERS, { 'if-none-match': etag })).status, 304);
});

testService('the next list includes a change made through another connection', async (t) => {
  const { call, url } = await startService(t);
  const other = await open(t, url);
  for (let id = 1n; id < 20n; id += 1n) {
    await place(other, pending(id));
    const { body } = await call('GET', ORDERS);
    assert.equal(JSON.parse(body).length, Number(id));
  }
});

test('while the store is unavailable, a list is 503, not stale', async (t) => {
  let isDown = false;
  const { call, store } = await startService(t, {}, (real) => ({
    ...real,
    changedOrders: (since, visit) =>
      isDown
        ? Promise.reject(new StoreUnavailable('gone', 'failed'))
        : real.changedOrders(since, visit),
  }));
  await place(store, pending(1n));
  assert.equal((await call('GET', ORDERS)).status, 200);
  isDown = true;
  const answer = await call('GET', ORDERS);
  assert.equal(answer.status, 503);
  assert.equal(JSON.parse(answer.body).code, 'store_unavailable');
  isDown = false;
  assert.equal((await call('GET', ORDERS)).status, 200);
});

test('while the list is read for the first time, it is 503 with the progress; everything else is served', async (t) => {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const withGate = (real: Store): Store => ({
    ...real,
    changedOrders: async (since, visit) => {
      const position = await real.changedOrders(since, visit);
      begun.resolve();
      await gate.promise;
      return position;
    },
  });
  const { call, store } = await startService(t, {}, withGate, false);
  await place(store, ...Array.from({ length: 2_000 }, (_, index) => pending(BigInt(index))));
  const first = call('GET', ORDERS);
  await begun.promise;
  assert.equal((await call('DELETE', `${ORDERS}/1`)).status, 204);
  assert.equal((await call('GET', '/v2/store/orders?limit=1')).status, 200);
  const { status, headers, body } = await first;
  assert.equal(status, 503);
  const { code, message } = JSON.parse(body);
  assert.equal(code, 'store_unavailable');
  assert.match(message, /^The list is being read; .* 2,000 of 2,000 orders have been read\.$/);
  assert.equal(headers['retry-after'], '1');
  gate.resolve();
  const list = await call('GET', ORDERS);
  assert.deepEqual([list.status, JSON.parse(list.body).length], [200, 1_999]);
});

test('a malformed If-None-Match matches nothing, even if it begins with a valid ETag', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n));
  const etag = String((await call('GET', ORDERS)).headers.etag);
  for (const value of [`${etag}, other`, `${etag}, "`, `${etag} W/`, `${etag};x`]) {
    assert.equal((await call('GET', ORDERS, { 'if-none-match': value })).status, 200, value);
  }
});

test('the bytes of lists sent are counted', async (t) => {
  const { call, metrics } = await startService(t);
  await call('GET', ORDERS);
  await call('GET', ORDERS);
  const counted = await metrics.registry.metrics();
  assert.match(
    counted,
    /^store_orders_http_response_body_bytes_total\{operation="listOrders"\} 4$/m,
  );
});
