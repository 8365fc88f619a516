import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderJson } from '../../src/orders/order.ts';
import { MAX_EVENTS_COUNTED } from '../../src/store/activity.ts';
import type { Answer } from '../http/contract-check.ts';
import {
  pending,
  place,
  placeInBatches,
  type Service,
  startService,
  testService,
} from '../http/harness.ts';

const LIST = '/v1/store/orders';
const PAGES = '/v2/store/orders';
const COUNTS = '/v2/store/counts';
const ACTIVITY = '/v2/store/activity';

const HOUR_MS = 3_600_000;
const hoursFromNow = (...hours: readonly number[]) =>
  hours.map((each) => new Date(Date.now() + each * HOUR_MS).toISOString()).join();

const orders = (count: number) =>
  Array.from({ length: count }, (_, index) => pending(BigInt(index + 1)));

async function read({ call }: Service, path: string) {
  const { status, body } = await call('GET', path);
  assert.equal(status, 200, body);
  return JSON.parse(body);
}

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
    const pagesOf = async (query: string) => {
      const pages: number[][] = [];
      for (let cursor = ''; ; ) {
        const page = await read(service, `${PAGES}?${query}${cursor}`);
        pages.push(page.orders.map(({ id }: { id: number }) => id));
        if (page.next === undefined) return pages;
        cursor = `&cursor=${page.next}`;
      }
    };
    for (const query of [
      'status=shipped',
      'shipDateFrom=1970-01-01T00:00:00.001Z',
      'shipDateBefore=1970-01-01T00:00:00Z',
    ]) {
      assert.deepEqual(await pagesOf(query), [[], []], query);
    }
    await service.store.apply([{ type: 'ship', id: 30_000n, at: 1 }]);
    assert.deepEqual((await pagesOf('status=shipped')).flat(), [30_000]);
    assert.deepEqual((await pagesOf('status=shipped&order=desc')).flat(), [30_000]);
  },
);

testService('beyond 50,000 orders that were examined, counts are not exact', async (t) => {
  const service = await startService(t);
  await placeInBatches(
    service.store,
    orders(54_000).map((order) => ({ ...order, shipDate: 5 })),
  );
  const some = await read(service, `${COUNTS}?shipDateBefore=1970-01-02T00:00:00Z`);
  assert.equal(some.isExact, false);
  const { pending } = some.orders;
  assert.ok(pending >= 50_000 && pending < 54_000, `${pending} orders`);
  const all = await read(service, COUNTS);
  assert.deepEqual([all.orders.pending, all.isExact], [54_000, true]);
});

testService('requests for many orders leave room for others', async (t) => {
  const service = await startService(t);
  const all = orders(15_000);
  await placeInBatches(service.store, all);
  const many = Array.from({ length: 14 }, (_, part) => {
    const some = all.slice(part * 1_000, part * 1_000 + 1_000);
    const body = JSON.stringify({ orders: some.map(({ id }) => ({ id: Number(id) })) });
    const headers = { 'content-type': 'application/json' };
    return service.call('POST', '/v2/store/cancellations', headers, body);
  });
  const single = all
    .slice(14_000, 14_060)
    .map(({ id }) => service.call('POST', `${PAGES}/${id}/cancel`));
  const statuses = async (answers: readonly Promise<Answer>[]) =>
    new Set((await Promise.all(answers)).map(({ status }) => status));
  assert.deepEqual(await statuses(single), new Set([200]));
  for (const status of await statuses(many)) assert.ok([200, 503].includes(status));
});

test('activity of more events than one request counts continues with a cursor', async (t) => {
  const service = await startService(t);
  // In one revision, which the cursor divides.
  await place(service.store, ...orders(MAX_EVENTS_COUNTED + 3));
  const boundaries = hoursFromNow(-1, 1);
  const first = await read(service, `${ACTIVITY}?boundaries=${boundaries}`);
  const second = await read(service, `${ACTIVITY}?boundaries=${boundaries}&cursor=${first.next}`);
  assert.deepEqual([first.periods[0].placed, second.periods[0].placed], [MAX_EVENTS_COUNTED, 3]);
  assert.equal(second.next, undefined);
  const parts = JSON.parse(Buffer.from(first.next, 'base64url').toString());
  const cursor = (values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
  const refusalOf = async (query: string) =>
    JSON.parse((await service.call('GET', `${ACTIVITY}?${query}`)).body).code;
  assert.deepEqual(
    [
      await refusalOf(`boundaries=${hoursFromNow(-2, 1)}&cursor=${first.next}`),
      await refusalOf(`boundaries=${boundaries}&cursor=${cursor([...parts, '\0'])}`),
      await refusalOf(`boundaries=${boundaries}&cursor=${cursor(parts.with(2, 'f'.repeat(16)))}`),
    ],
    ['cursor_invalid', 'cursor_invalid', 'changes_gone'],
  );
});
