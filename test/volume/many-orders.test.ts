import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderJson } from '../../src/domain/order.ts';
import { MAX_ROWS_READ } from '../../src/store/pages.ts';
import { ACTIVITY, activity, hoursFromNow } from '../api/v2/activity.ts';
import { ORDERS, walk } from '../api/v2/walk.ts';
import type { Answer } from '../http/contract-check.ts';
import { pending, place, placeInBatches, startService, testService } from '../http/harness.ts';

const LIST = '/v1/store/orders';
const COUNTS = '/v2/store/counts';

const orders = (count: number) =>
  Array.from({ length: count }, (_, index) => pending(BigInt(index)));

testService('a list of 20,000 orders arrives complete', async (t) => {
  const { call, store } = await startService(t);
  const all = orders(20_000);
  await placeInBatches(store, all);
  const { body, headers } = await call('GET', LIST);
  assert.equal(body, `[${all.map(orderJson).join(',')}]`);
  assert.equal(Number(headers['content-length']), body.length);
});

testService(
  'a filter that matches nothing among many orders ends after bounded pages',
  async (t) => {
    const service = await startService(t);
    await placeInBatches(service.store, orders(55_000));
    for (const query of [
      'status=shipped',
      'shipDateFrom=1970-01-01T00:00:00.001Z',
      'shipDateBefore=1970-01-01T00:00:00Z',
    ]) {
      assert.deepEqual(await walk(service, query), [[], []], query);
    }
    await service.store.apply([{ type: 'ship', id: 30_000n, at: 1 }]);
    assert.deepEqual((await walk(service, 'status=shipped')).flat(), [30_000]);
    assert.deepEqual((await walk(service, 'status=shipped&direction=desc')).flat(), [30_000]);
  },
);

testService('beyond 50,000 orders that were examined, counts are not exact', async (t) => {
  const service = await startService(t);
  await placeInBatches(
    service.store,
    orders(54_000).map((order) => ({ ...order, shipDate: 5 })),
  );
  const count = async (path: string) => JSON.parse((await service.call('GET', path)).body);
  const some = await count(`${COUNTS}?shipDateBefore=1970-01-02T00:00:00Z`);
  assert.equal(some.exact, false);
  const counted = some.counts.pending;
  assert.ok(counted >= 50_000 && counted < 54_000, `${counted} orders`);
  const all = await count(COUNTS);
  assert.deepEqual([all.counts.pending, all.exact], [54_000, true]);
});

testService('requests for many orders leave room for others', async (t) => {
  const service = await startService(t);
  const all = orders(15_000);
  await placeInBatches(service.store, all);
  const many = Array.from({ length: 14 }, (_, part) => {
    const some = all.slice(part * 1_000, part * 1_000 + 1_000);
    const body = JSON.stringify({ orders: some.map(({ id }) => ({ id: Number(id) })) });
    const headers = { 'content-type': 'application/json' };
    return service.call('POST', '/v2/store/orders/cancel', headers, body);
  });
  const single = all
    .slice(14_000, 14_060)
    .map(({ id }) => service.call('POST', `${ORDERS}/${id}/cancel`));
  const statuses = async (answers: readonly Promise<Answer>[]) =>
    new Set((await Promise.all(answers)).map(({ status }) => status));
  assert.deepEqual(await statuses(single), new Set([200]));
  for (const status of await statuses(many)) assert.ok([200, 503].includes(status));
});

test('activity of more events than one request counts continues with a cursor', async (t) => {
  const service = await startService(t);
  // In one revision, which the cursor divides.
  await place(service.store, ...orders(MAX_ROWS_READ + 3));
  const boundaries = hoursFromNow(-1, 1);
  const first = await activity(service, `boundaries=${boundaries}`);
  const second = await activity(service, `boundaries=${boundaries}&cursor=${first.next}`);
  assert.deepEqual([first.periods[0].placed, second.periods[0].placed], [MAX_ROWS_READ, 3]);
  assert.equal(second.next, undefined);
  const parts = JSON.parse(Buffer.from(first.next, 'base64url').toString());
  const cursor = (values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
  const refusalOf = async (query: string) =>
    JSON.parse((await service.call('GET', `${ACTIVITY}?${query}`)).body).code;
  assert.deepEqual(
    [
      await refusalOf(`boundaries=${hoursFromNow(-2, 1)}&cursor=${first.next}`),
      await refusalOf(`boundaries=${boundaries}&by=key_1&cursor=${first.next}`),
      await refusalOf(`boundaries=${boundaries}&cursor=${cursor([...parts, '\0'])}`),
      await refusalOf(`boundaries=${boundaries}&cursor=${cursor(parts.with(2, 'f'.repeat(16)))}`),
    ],
    ['cursor_invalid', 'cursor_invalid', 'cursor_invalid', 'changes_gone'],
  );
});
