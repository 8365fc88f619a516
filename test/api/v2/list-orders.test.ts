import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pending, place, type Service, startService, testService } from '../../http/harness.ts';
import { ORDERS, page, walk } from './walk.ts';

/** Orders 1 to 9: 1 to 3 shipped, 4 to 6 cancelled, with pets 0 to 2 in turn and a ship date of their id. */
async function withOrders(service: Service): Promise<void> {
  const orders = Array.from({ length: 9 }, (_, index) => ({
    ...pending(BigInt(index + 1)),
    petId: BigInt((index + 1) % 3),
    shipDate: index + 1,
  }));
  await place(service.store, ...orders);
  await service.store.apply([1n, 2n, 3n].map((id) => ({ type: 'ship', id, at: Number(id) })));
  await service.store.apply([4n, 5n, 6n].map((id) => ({ type: 'cancel', id })));
}

testService('pages follow each other to the end, in either order, with any filters', async (t) => {
  const service = await startService(t);
  await withOrders(service);
  assert.deepEqual(await walk(service, 'limit=4'), [[1, 2, 3, 4], [5, 6, 7, 8], [9]]);
  assert.deepEqual(await walk(service, 'limit=3&direction=desc'), [
    [9, 8, 7],
    [6, 5, 4],
    [3, 2, 1],
  ]);
  assert.deepEqual(await walk(service, 'status=pending,shipped&limit=5'), [[1, 2, 3, 7, 8], [9]]);
  assert.deepEqual(await walk(service, 'petId=1'), [[1, 4, 7]]);
  assert.deepEqual(await walk(service, 'petId=1&status=cancelled&direction=desc'), [[4]]);
  const from = 'shipDateFrom=1970-01-01T00:00:00.002Z';
  const before = 'shipDateBefore=1970-01-01T01:00:00.008%2B01:00';
  assert.deepEqual((await walk(service, `${from}&${before}`)).flat(), [2, 3, 4, 5, 6, 7]);
  // A value that is false to a condition.
  assert.deepEqual(await walk(service, 'petId=0&limit=2'), [[3, 6], [9]]);
  assert.deepEqual(await walk(service, 'petId=77'), [[]]);
});

testService(
  'both bounds of each time are exact below the millisecond, in pages and counts',
  async (t) => {
    const service = await startService(t);
    await place(service.store, { ...pending(1n), shipDate: 1_700_000_000_246 });
    const [order] = (await page(service, '')).orders as unknown as Record<string, string>[];
    const times = {
      shipDate: order!.shipDate!,
      placed: order!.placedAt!,
      updated: order!.updatedAt!,
    };
    for (const [name, time] of Object.entries(times)) {
      const [same, later] = [time, time.replace('Z', '0001Z')];
      const expected = {
        ...{ [`${name}From=${same}`]: 1, [`${name}From=${later}`]: 0 },
        ...{ [`${name}Before=${same}`]: 0, [`${name}Before=${later}`]: 1 },
        [`${name}Before=9999-12-31T23:59:59.999999Z`]: 1,
      };
      for (const [query, count] of Object.entries(expected)) {
        assert.equal((await walk(service, query)).flat().length, count, query);
        const { counts } = JSON.parse(
          (await service.call('GET', `/v2/store/counts?${query}`)).body,
        );
        assert.equal(counts.pending, count, query);
      }
    }
  },
);

testService('pages are sorted by ship date or by the time of placement, then by id', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(5n), shipDate: 7 }, { ...pending(1n), shipDate: 9 });
  const first = (await page(service, '')).orders[0] as unknown as { readonly placedAt: string };
  while (Date.now() <= Date.parse(first.placedAt)) await nextTurn();
  const undated = [3n, 4n].map((id) => ({ ...pending(id), shipDate: undefined }));
  await place(service.store, { ...pending(2n), shipDate: 7 }, ...undated);
  assert.deepEqual(await walk(service, 'sort=shipDate&limit=2'), [[2, 5], [1, 3], [4]]);
  assert.deepEqual(
    (await walk(service, 'sort=shipDate&limit=1&direction=desc')).flat(),
    [1, 5, 2, 4, 3],
  );
  assert.deepEqual(await walk(service, 'sort=shipDate&limit=2&direction=desc'), [
    [1, 5],
    [2, 4],
    [3],
  ]);
  assert.deepEqual(await walk(service, 'sort=shipDate&limit=3&direction=desc'), [
    [1, 5, 2],
    [4, 3],
  ]);
  assert.deepEqual((await walk(service, 'sort=shipDate&direction=desc&petId=3')).flat(), [3]);
  const dated = 'sort=shipDate&shipDateFrom=1970-01-01T00:00:00.007Z';
  assert.deepEqual((await walk(service, `${dated}&limit=1`)).flat(), [2, 5, 1]);
  assert.deepEqual(await walk(service, 'sort=placedAt&limit=3'), [
    [1, 5, 2],
    [3, 4],
  ]);
  const later = `placedFrom=${new Date(Date.parse(first.placedAt) + 1).toISOString()}`;
  assert.deepEqual(await walk(service, `sort=placedAt&direction=desc&limit=2&${later}`), [
    [4, 3],
    [2],
  ]);
  assert.deepEqual(await walk(service, later), [[2, 3, 4]]);
  const earlier = `placedBefore=${new Date(Date.parse(first.placedAt) + 1).toISOString()}`;
  assert.deepEqual(await walk(service, `${earlier}&petId=5`), [[5]]);
  const { next } = await page(service, 'sort=shipDate&limit=1');
  for (const query of [
    '',
    '&sort=placedAt',
    '&sort=shipDate&direction=desc',
    `&sort=shipDate&${later}`,
  ]) {
    const { body } = await service.call('GET', `${ORDERS}?cursor=${next}${query}`);
    assert.equal(JSON.parse(body).code, 'cursor_invalid', query);
  }
});

testService('pages are sorted by the time of the latest change, and filtered by it', async (t) => {
  const service = await startService(t);
  const { store } = service;
  const updatedAt = async (id: bigint) => (await store.orders([id]))[0]!.updatedAt;
  const after = async (time: number) => {
    while (Date.now() <= time) await nextTurn();
  };
  await place(store, ...[1n, 2n, 3n, 4n, 5n].map(pending));
  await after(await updatedAt(5n));
  await store.apply([{ type: 'cancel', id: 2n }]);
  const cancelled = await updatedAt(2n);
  await after(cancelled);
  await store.apply([
    { type: 'ship', id: 4n },
    { type: 'ship', id: 1n },
    place6AndCancel.placed,
    place6AndCancel.cancelled,
  ]);
  const sort = 'sort=updatedAt';
  assert.deepEqual(await walk(service, `${sort}&limit=2`), [
    [3, 5],
    [2, 1],
    [4, 6],
  ]);
  assert.deepEqual((await walk(service, `${sort}&limit=4&direction=desc`)).flat(), [
    ...[6, 4, 1, 2, 5, 3],
  ]);
  const from = `updatedFrom=${new Date(cancelled).toISOString()}`;
  const before = `updatedBefore=${new Date(cancelled + 1).toISOString()}`;
  assert.deepEqual((await walk(service, `${sort}&${from}`)).flat(), [2, 1, 4, 6]);
  assert.deepEqual((await walk(service, `${sort}&${from}&${before}`)).flat(), [2]);
  assert.deepEqual((await walk(service, `${from}&status=shipped,cancelled&limit=3`)).flat(), [
    ...[1, 2, 4, 6],
  ]);
  assert.deepEqual((await walk(service, `${before}&direction=desc`)).flat(), [5, 3, 2]);
  const { body } = await service.call('GET', `/v2/store/counts?${from}`);
  assert.deepEqual(JSON.parse(body).counts, { pending: 0, shipped: 2, cancelled: 2 });
});

/** An order that is placed and cancelled in one revision. */
const place6AndCancel = {
  placed: { type: 'insertOrder', order: pending(6n) },
  cancelled: { type: 'cancel', id: 6n },
} as const;

testService('a page can end with the longest reference', async (t) => {
  const service = await startService(t);
  const reference = (last: string) => `${'\u{1f436}'.repeat(254)}${last}`;
  const orders = ['"', '\\', '\u{1f436}'].map((last, index) => ({
    ...{ ...pending(BigInt(index + 1)), reference: reference(last) },
  }));
  await place(service.store, ...orders);
  const prefix = encodeURIComponent('\u{1f436}'.repeat(254));
  assert.deepEqual(await walk(service, `referencePrefix=${prefix}&limit=1`), [[1], [2], [3]]);
});

testService('orders are found by the first characters of their references', async (t) => {
  const service = await startService(t);
  const references = [
    'PO-2',
    'po-1',
    'PO-10',
    'PO',
    undefined,
    'PO-1',
    'PO-\u{1f436}',
    'PO-\ue000',
  ];
  const orders = references.map((reference, index) => ({
    ...{ ...pending(BigInt(index + 1)), reference },
  }));
  await place(service.store, ...orders, { ...pending(9n), reference: 'PO-1' });
  await service.store.apply([{ type: 'cancel', id: 9n }]);
  const prefix = 'referencePrefix=PO-';
  assert.deepEqual(await walk(service, `${prefix}&limit=3`), [
    [6, 9, 3],
    [1, 8, 7],
  ]);
  assert.deepEqual(await walk(service, `${prefix}&direction=desc&limit=4`), [
    [7, 8, 1, 3],
    [9, 6],
  ]);
  assert.deepEqual(await walk(service, `${prefix}&sort=id&limit=4`), [
    [1, 3, 6, 7],
    [8, 9],
  ]);
  assert.deepEqual((await walk(service, `${prefix}&sort=placedAt&status=cancelled`)).flat(), [9]);
  assert.deepEqual((await walk(service, 'referencePrefix=PO-1&reference=PO-10')).flat(), [3]);
  assert.deepEqual((await walk(service, 'referencePrefix=%F0%9F%90%B6')).flat(), []);
  const { body } = await service.call('GET', `/v2/store/counts?${prefix}`);
  assert.deepEqual(JSON.parse(body).counts, { pending: 5, shipped: 0, cancelled: 1 });
  const { next } = await page(service, `${prefix}&limit=1`);
  for (const query of ['sort=reference', `cursor=${next}&referencePrefix=PO`, `cursor=${next}`]) {
    const { status } = await service.call('GET', `${ORDERS}?${query}`);
    assert.equal(status, 400, query);
  }
});

testService('orders are found by any part of their references, the newest first', async (t) => {
  const service = await startService(t);
  const references = ['PO-Straße-1', 'po-STRASSE-2', 'PO-2', undefined, 'STRAẞE', 'x-strasse'];
  await place(
    service.store,
    ...references.map((reference, index) => ({ ...pending(BigInt(index + 1)), reference })),
  );
  await service.store.apply([{ type: 'cancel', id: 6n }]);
  const part = `referenceContains=${encodeURIComponent('traß')}`;
  assert.deepEqual(await walk(service, `${part}&limit=3`), [[6, 5, 2], [1]]);
  assert.deepEqual(await walk(service, `${part}&direction=asc&sort=id&limit=3`), [[1, 2, 5], [6]]);
  assert.deepEqual(await walk(service, `${part}&status=cancelled`), [[6]]);
  assert.deepEqual(await walk(service, `${part}&referencePrefix=po-`), [[2]]);
  assert.deepEqual(await walk(service, 'referenceContains=%25%25%25'), [[]]);
  for (const [query, counts] of [
    [part, [3, 0, 1]],
    [`${part}&status=pending&referencePrefix=PO-`, [1, 0, 0]],
    [`${part}&placedBefore=1970-01-02T00:00:00Z`, [0, 0, 0]],
  ] as const) {
    const { body } = await service.call('GET', `/v2/store/counts?${query}`);
    const [pending, shipped, cancelled] = counts;
    assert.deepEqual(JSON.parse(body).counts, { pending, shipped, cancelled }, query);
    assert.equal(JSON.parse(body).exact, true);
  }
  const { next } = await page(service, `${part}&limit=1`);
  for (const query of [
    'referenceContains=po',
    `referenceContains=${'x'.repeat(256)}`,
    'referenceContains=x%00x',
    `${part}&sort=placedAt`,
    `${part}&sort=reference&referencePrefix=PO`,
    `${part}&cursor=${next}&direction=asc`,
    `referenceContains=PO-&cursor=${next}`,
  ]) {
    const { status } = await service.call('GET', `${ORDERS}?${query}`);
    assert.equal(status, 400, query);
  }
});

test('the link to the next page is relative, and has the same parameters', async (t) => {
  const service = await startService(t);
  await withOrders(service);
  const query = 'limit=2&status=pending,shipped&shipDateFrom=1970-01-01T00:00:00%2B00:00';
  const { headers } = await service.call('GET', `${ORDERS}?${query}`);
  const [, target] = /^<(\?[^>]*)>; rel="next"$/.exec(String(headers.link))!;
  // A client may read it as a form, where "+" is a space.
  const parameters = new URLSearchParams(target);
  assert.equal(parameters.get('shipDateFrom'), '1970-01-01T00:00:00+00:00');
  const next = await service.call('GET', ORDERS + target);
  assert.deepEqual(
    JSON.parse(next.body).orders.map(({ id }: { id: number }) => id),
    [3, 7],
  );
});

test('the last page is full and has no next, if no order is left', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(2n ** 63n - 1n));
  const { orders, next } = await page(service, 'limit=3');
  assert.equal(orders.length, 3);
  assert.equal(next, undefined);
});

test('a malformed cursor is refused, and so is one with other filters or another order', async (t) => {
  const service = await startService(t);
  await withOrders(service);
  const { next } = await page(service, 'limit=1&status=pending');
  for (const query of [
    `cursor=${next}`,
    `cursor=${next}&status=pending&direction=desc`,
    `cursor=${next}&status=pending,shipped`,
    `cursor=${next}&status=pending&petId=1`,
    'cursor=x',
    `cursor=${next}x&status=pending`,
    `cursor=${Buffer.from('[1,"x","01"]').toString('base64url')}`,
    `cursor=${Buffer.from('null').toString('base64url')}`,
  ]) {
    const { status, body } = await service.call('GET', `${ORDERS}?${query}`);
    assert.equal(status, 400, query);
    assert.equal(JSON.parse(body).code, 'cursor_invalid', query);
  }
  // Each bound of the dates is a filter of its own.
  const dated = 'shipDateFrom=1970-01-01T00:00:00Z&shipDateBefore=1970-01-02T00:00:00Z';
  const first = await page(service, `limit=1&${dated}`);
  for (const query of [
    dated.replace('00:00:00Z', '00:00:00.001Z'),
    dated.replace('1970-01-02', '1970-01-03'),
  ]) {
    const { body } = await service.call('GET', `${ORDERS}?cursor=${first.next}&${query}`);
    assert.equal(JSON.parse(body).code, 'cursor_invalid', query);
  }
  const later = await page(
    service,
    `cursor=${first.next}&limit=1&${dated.replace('Z', '%2B00:00')}`,
  );
  assert.deepEqual(
    later.orders.map(({ id }) => id),
    [2],
  );
  // The limit may change, and neither order nor number of the statuses matters.
  const { next: both } = await page(service, 'limit=1&status=pending,shipped');
  const rest = await page(service, `limit=1&cursor=${both}&status=shipped,pending,shipped`);
  assert.deepEqual(
    rest.orders.map(({ id }) => id),
    [2],
  );
  const { orders } = await page(service, `cursor=${next}&status=pending&limit=500`);
  assert.deepEqual(
    orders.map(({ id }) => id),
    [8, 9],
  );
});

test('a page has up to 100 orders, and up to 500 with a limit', async (t) => {
  const service = await startService(t);
  const orders = Array.from({ length: 501 }, (_, index) => pending(BigInt(index + 1)));
  await place(service.store, ...orders);
  assert.equal((await page(service, '')).orders.length, 100);
  assert.equal((await page(service, 'limit=500')).orders.length, 500);
});

test('unknown, repeated, empty and malformed parameters are refused', async (t) => {
  const service = await startService(t);
  for (const query of [
    ...['page=1', 'limit=1&limit=1', 'status=', 'status=new', 'limit=0', 'limit=501', 'limit=5.0'],
    ...[
      'petId=01',
      'order=up',
      'sort=petId',
      'placedFrom=2026',
      'shipDateFrom=2026-12-01',
      'cursor=',
    ],
  ]) {
    const { status, body } = await service.call('GET', `${ORDERS}?${query}`);
    assert.equal(status, 400, query);
    assert.equal(JSON.parse(body).code, 'parameter_invalid', query);
  }
});

test('a large page is compressed for clients that accept it, with an ETag of its own', async (t) => {
  const service = await startService(t);
  const { call, store } = service;
  await place(store, pending(1n));
  const gzip = { 'accept-encoding': 'gzip, br' };
  const small = await call('GET', ORDERS, gzip);
  assert.equal(small.headers['content-encoding'], undefined);
  await place(store, ...Array.from({ length: 20 }, (_, id) => pending(BigInt(id + 2))));
  for (const path of [ORDERS, '/v2/store/changes']) {
    const plain = await call('GET', path);
    const compressed = await call('GET', path, gzip);
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(compressed.headers['content-encoding'], 'gzip');
    assert.ok(Number(compressed.headers['content-length']) < plain.body.length / 4);
    assert.equal(compressed.body, plain.body);
    assert.notEqual(compressed.headers.etag, plain.headers.etag);
    for (const { headers } of [plain, compressed]) {
      assert.equal(headers.vary, 'Accept-Encoding');
      const unchanged = await call('GET', path, { ...gzip, 'if-none-match': `${headers.etag}` });
      assert.deepEqual([unchanged.status, unchanged.headers.etag], [304, headers.etag]);
    }
  }
});

testService('a page is 304 while no order has changed', async (t) => {
  const service = await startService(t);
  await withOrders(service);
  const { headers } = await service.call('GET', `${ORDERS}?limit=2`);
  const ifNoneMatch = { 'if-none-match': String(headers.etag) };
  assert.equal((await service.call('GET', `${ORDERS}?limit=2`, ifNoneMatch)).status, 304);
  await service.store.apply([{ type: 'cancel', id: 9n }]);
  assert.equal((await service.call('GET', `${ORDERS}?limit=2`, ifNoneMatch)).status, 200);
});
