import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_RECORDS } from '../../../src/http/error-records.ts';
import type { Answer } from '../../http/contract-check.ts';
import { pending, place, type Service, startService, testService } from '../../http/harness.ts';

const JSON_BODY = { 'content-type': 'application/json' };

function post(
  { call }: Service,
  operation: 'cancel' | 'ship',
  body: object | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return call('POST', `/v2/store/orders/${operation}`, { ...JSON_BODY, ...headers }, text);
}

interface Result {
  readonly id: number;
  readonly order?: { readonly status: string; readonly revision: number };
  readonly error?: { readonly code: string; readonly status: number };
}

/** The status, or the code and status of the error, of each order. */
function summary({ body }: Answer): string[] {
  const { failed, results } = JSON.parse(body) as { failed: number; results: Result[] };
  assert.equal(failed, results.filter(({ error }) => error !== undefined).length);
  return results.map(
    ({ id, order, error }) => `${id} ${order?.status ?? `${error!.code} ${error!.status}`}`,
  );
}

testService('several orders are cancelled in one revision, with the result of each', async (t) => {
  const service = await startService(t);
  const { call, store } = service;
  await place(store, ...[1n, 2n, 3n, 4n].map(pending), { ...pending(5n), reference: 'a' });
  await store.apply([{ type: 'ship', id: 2n }]);
  const etagOf = async (id: number) =>
    String((await call('GET', `/v2/store/orders/${id}`)).headers.etag);
  const answer = await post(service, 'cancel', {
    orders: [
      { id: 4, etag: await etagOf(4) },
      { id: 1 },
      { id: 3, etag: '"1-x-pending"' },
      { id: 2 },
      { id: 9 },
      { id: 5, reference: 'b' },
    ],
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(summary(answer), [
    ...['4 cancelled', '1 cancelled', '3 order_changed 412', '2 order_already_shipped 409'],
    ...['9 order_not_found 404', '5 reference_differs 412'],
  ]);
  const [four, one] = JSON.parse(answer.body).results as Result[];
  assert.equal(four!.order!.revision, one!.order!.revision);
  assert.deepEqual(four!.order, JSON.parse((await call('GET', '/v2/store/orders/4')).body));
  const again = await post(service, 'cancel', { orders: [{ id: 4 }] });
  assert.deepEqual(summary(again), ['4 order_already_cancelled 409']);
});

testService('several orders are shipped, at the same time', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(3n));
  await service.store.apply([{ type: 'cancel', id: 3n }]);
  const shippedAt = '2026-11-20T10:00:00.000Z';
  const orders = [{ id: 1 }, { id: 2 }, { id: 3 }];
  const answer = await post(service, 'ship', { orders, shippedAt });
  assert.deepEqual(summary(answer), ['1 shipped', '2 shipped', '3 order_already_cancelled 409']);
  assert.equal(JSON.parse(answer.body).results[1].order.shipDate, shippedAt);
  const again = await post(service, 'ship', { orders: [{ id: 1 }] });
  assert.deepEqual(summary(again), ['1 order_already_shipped 409']);
});

testService(
  'an atomic request changes all orders or none, and names those that cannot be',
  async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n), pending(2n));
    const refused = await post(service, 'cancel', {
      orders: [{ id: 1 }, { id: 9 }, { id: 2, etag: '"x"' }],
      atomic: true,
    });
    const { code, errors } = JSON.parse(refused.body);
    assert.deepEqual([refused.status, code], [409, 'orders_not_changed']);
    assert.deepEqual(errors, [
      {
        ...{ pointer: '/orders/1', id: 9, code: 'order_not_found' },
        detail: 'There is no order with this id.',
      },
      {
        ...{ pointer: '/orders/2', id: 2, code: 'order_changed' },
        detail: ERROR_RECORDS.order_changed.message,
      },
    ]);
    assert.equal((await service.store.status()).orders.cancelled, 0n);
    const done = await post(service, 'cancel', {
      orders: [{ id: 1 }, { id: 2 }],
      atomic: true,
    });
    assert.deepEqual(summary(done), ['1 cancelled', '2 cancelled']);
  },
);

testService('a repeated request with an Idempotency-Key has the same results', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(3n));
  const key = { 'idempotency-key': 'k1' };
  const body = { orders: [{ id: 1 }, { id: 9 }] };
  const first = await post(service, 'cancel', body, key);
  assert.equal(first.headers['idempotent-replayed'], undefined);
  // Another spelling of the same body.
  const again = await post(service, 'cancel', '{"atomic":false,"orders":[{"id":1},{"id":9}]}', key);
  assert.deepEqual([again.status, again.body], [200, first.body]);
  assert.equal(again.headers['idempotent-replayed'], 'true');
  for (const other of [
    ...[{ orders: [{ id: 1 }] }, { ...body, atomic: true }, { orders: body.orders.toReversed() }],
    ...[{ reason: 'x' }, { etag: '"x"' }, { reference: 'x' }].map((more) => ({
      orders: [{ id: 1, ...more }, { id: 9 }],
    })),
  ]) {
    const answer = await post(service, 'cancel', other, key);
    assert.equal(answer.status, 422, JSON.stringify(other));
  }
  assert.equal((await post(service, 'ship', body, key)).status, 422);
  const [shippedAt, later] = ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.001Z'];
  const ship = { orders: [{ id: 3, trackingNumber: 'T' }], shippedAt };
  for (const [other, status] of [
    [ship, 200],
    [{ ...ship, shippedAt: '2026-11-20T11:00:00+01:00' }, 200],
    [{ ...ship, shippedAt: later }, 422],
    [{ orders: ship.orders }, 422],
    [{ ...ship, orders: [{ id: 3, trackingNumber: 'U' }] }, 422],
  ] as const) {
    const answer = await post(service, 'ship', other, { 'idempotency-key': 'k3' });
    assert.equal(answer.status, status, JSON.stringify(other));
  }
  for (const malformed of ['a b', '']) {
    const headers = { 'idempotency-key': malformed };
    assert.equal((await post(service, 'cancel', body, headers)).status, 400);
  }
  // A request that has changed nothing is carried out again.
  const nothing = { 'idempotency-key': 'k2' };
  for (const id of [9, 2]) {
    const answer = await post(service, 'cancel', { orders: [{ id }] }, nothing);
    assert.deepEqual([answer.status, answer.headers['idempotent-replayed']], [200, undefined]);
  }
});

testService(
  'a key with a limit of cancels gets 429 in the results, or for the whole atomic request',
  async (t) => {
    const service = await startService(t);
    await place(service.store, ...[1n, 2n, 3n].map(pending));
    const apiKey = await service.newKey({ scopes: ['orders:cancel'], cancelsPerHour: 2 });
    const authorization = { authorization: `Bearer ${apiKey}` };
    const orders = [{ id: 1 }, { id: 2 }, { id: 3 }];
    // More than the key may ever cancel in an hour.
    const never = await post(service, 'cancel', { orders, atomic: true }, authorization);
    assert.deepEqual(JSON.parse(never.body).errors, [
      {
        ...{ pointer: '/orders/2', id: 3, code: 'cancel_limit_reached' },
        detail: ERROR_RECORDS.cancel_limit_reached.message,
      },
    ]);
    const answer = await post(service, 'cancel', { orders }, authorization);
    assert.deepEqual(summary(answer), ['1 cancelled', '2 cancelled', '3 cancel_limit_reached 429']);
    assert.match(String(answer.headers['retry-after']), /^\d+$/);
    assert.equal((await post(service, 'ship', { orders }, authorization)).status, 403);
  },
);

testService(
  'a repetition of a request that reached the limit of cancels has Retry-After too',
  async (t) => {
    const service = await startService(t);
    await place(service.store, ...[1n, 2n].map(pending));
    const apiKey = await service.newKey({ scopes: ['orders:cancel'], cancelsPerHour: 1 });
    const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': 'k' };
    const orders = [{ id: 1 }, { id: 2 }];
    const first = await post(service, 'cancel', { orders }, headers);
    const again = await post(service, 'cancel', { orders }, headers);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.equal(again.body, first.body);
    for (const { headers } of [first, again]) assert.ok(Number(headers['retry-after']) > 3_590);
  },
);

testService('an etag that a proxy has changed is refused for several orders, too', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { headers } = await service.call('GET', '/v2/store/orders/1');
  const etag = String(headers.etag).replace(/"$/, '-gzip"');
  const answer = await post(service, 'cancel', { orders: [{ id: 1, etag }] });
  const [problem] = JSON.parse(answer.body).errors;
  assert.deepEqual([answer.status, problem.pointer], [400, '/orders/0/etag']);
});

testService(
  '1,000 orders fit in a request; repeated ids and further orders are refused',
  async (t) => {
    const service = await startService(t);
    const ids = Array.from({ length: 1_000 }, (_, index) => 2n ** 62n + BigInt(index));
    await place(service.store, ...ids.map(pending));
    const page = async (cursor = '') =>
      JSON.parse((await service.call('GET', `/v2/store/orders?limit=1${cursor}`)).body);
    assert.equal((await page()).revision, 1);
    const etag = String((await service.call('GET', `/v2/store/orders/${ids[0]}`)).headers.etag);
    const text = (all: readonly bigint[]) =>
      `{"orders":[${all.map((id) => `{"id":${id},"etag":${JSON.stringify(etag)}}`).join()}]}`;
    const tooMany = await post(service, 'cancel', text([...ids, 1n]));
    assert.equal(tooMany.status, 400);
    const repeated = await post(service, 'cancel', text([...ids.slice(0, 5), ids[2]!]));
    assert.deepEqual(JSON.parse(repeated.body).errors, [
      { pointer: '/orders/5/id', detail: 'is repeated' },
    ]);
    assert.equal((await post(service, 'cancel', '{"orders":[]}')).status, 400);
    const answer = await post(service, 'cancel', text(ids));
    assert.equal(answer.status, 200);
    assert.equal((await service.store.status()).orders.cancelled, 1_000n);
    assert.ok(answer.body.includes(`{"id":${ids[999]},"order":{"id":${ids[999]},`));
  },
);

test('a request for many orders may have 1.5 MiB, more than other bodies', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const largest = '{"orders":[{"id":1}]}'.padEnd(1_536 * 1024);
  assert.equal((await post(service, 'cancel', largest)).status, 200);
  assert.equal((await post(service, 'cancel', `${largest} `)).status, 413);
});

test('a body has at most 20,000 JSON values', async (t) => {
  const service = await startService(t);
  const problemsOf = async (values: number) => {
    const body = `{"orders":[${Array(values - 1).fill(1)}]}`;
    const { status, body: answer } = await post(service, 'cancel', body);
    assert.equal(status, 400);
    return JSON.parse(answer).errors;
  };
  const tooMany = [{ pointer: '', detail: 'has more than 20000 JSON values' }];
  assert.deepEqual(await problemsOf(20_001), tooMany);
  assert.deepEqual(await problemsOf(700_000), tooMany);
  const [first] = await problemsOf(20_000);
  assert.deepEqual(first, { pointer: '/orders', detail: 'must have at most 1000 items' });
});

testService(
  'an atomic request beyond the limit of its key may be retried when all of its cancels fit',
  async (t) => {
    const service = await startService(t);
    await place(service.store, ...[1n, 2n, 3n, 4n, 5n, 6n].map(pending));
    const apiKey = await service.newKey({ scopes: ['orders:cancel'], cancelsPerHour: 3 });
    const authorization = { authorization: `Bearer ${apiKey}` };
    const orders = (...list: number[]) => ({ orders: list.map((id) => ({ id })), atomic: true });
    assert.equal((await post(service, 'cancel', orders(1, 2), authorization)).status, 200);
    for (const some of [orders(3, 4), orders(3, 4, 5)]) {
      const refused = await post(service, 'cancel', some, authorization);
      assert.equal(refused.status, 429);
      assert.ok(Number(refused.headers['retry-after']) > 3_590);
    }
    // More than the key may ever cancel at once.
    const never = await post(service, 'cancel', orders(3, 4, 5, 6), authorization);
    assert.deepEqual([never.status, never.headers['retry-after']], [409, undefined]);
  },
);

test('an id is any int64, in plain digits', async (t) => {
  const service = await startService(t);
  for (const [id, status] of [
    ...[['9223372036854775807', 200] as const, ['-9223372036854775808', 200] as const],
    ...[['9223372036854775808', 400] as const, ['-9223372036854775809', 400] as const],
    ...['1.0', '1e0', '"1"', 'null'].map((wrong) => [wrong, 400] as const),
  ]) {
    const answer = await post(service, 'cancel', `{"orders":[{"id":${id}}]}`);
    assert.equal(answer.status, status, id);
  }
});

testService('malformed conditions are refused, so that none is lost', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  for (const order of [
    { id: 1, etag: 'W/"1-x-pending"' },
    { id: 1, etag: '1-x-pending' },
    { id: 1, reference: '\u0000' },
    { id: 1, etg: '"x"' },
  ]) {
    const { status, body } = await post(service, 'cancel', { orders: [order] });
    assert.equal(status, 400, body);
  }
  const { call } = service;
  assert.equal((await call('GET', '/v2/store/orders?reference=%00')).status, 400);
});
