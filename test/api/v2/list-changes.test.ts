import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pending, place, type Service, startService, testService } from '../../http/harness.ts';

const CHANGES = '/v2/store/changes';

async function changes({ call }: Service, query = '') {
  const answer = await call('GET', `${CHANGES}${query}`);
  assert.equal(answer.status, 200, answer.body);
  return JSON.parse(answer.body);
}

const summary = (list: { type: string; order: { id: number; status: string } }[]) =>
  list.map(({ type, order }) => `${type} ${order.id} ${order.status}`);

testService('changes are complete and in order, starting with the first one', async (t) => {
  const service = await startService(t);
  const { store } = service;
  const empty = await changes(service);
  assert.deepEqual([empty.changes, empty.more, empty.revision], [[], false, 0]);
  await place(store, pending(2n), pending(1n));
  await store.apply([{ type: 'ship', id: 2n, at: 5 }]);
  await store.apply([{ type: 'cancel', id: 1n, by: 'key_a' }]);
  const all = await changes(service, `?after=${empty.next}`);
  assert.deepEqual(summary(all.changes), [
    'placed 1 pending',
    'placed 2 pending',
    'shipped 2 shipped',
    'cancelled 1 cancelled',
  ]);
  // Shipping overwrites shipDate and complete; the change before it has what they were.
  assert.deepEqual(
    all.changes.map(({ order }: { order: { complete: boolean; shipDate: string } }) => [
      order.complete,
      order.shipDate,
    ]),
    [
      [false, '1970-01-01T00:00:00.000Z'],
      [false, '1970-01-01T00:00:00.000Z'],
      [true, '1970-01-01T00:00:00.005Z'],
      [false, '1970-01-01T00:00:00.000Z'],
    ],
  );
  assert.equal(all.changes[3].by, 'key_a');
  assert.deepEqual(await changes(service), all);
  assert.deepEqual((await changes(service, `?after=${all.next}`)).changes, []);
  assert.deepEqual(await changes(service, '?after=now'), { ...all, changes: [] });
});

testService('changes begin at a time, which is for the first page only', async (t) => {
  const service = await startService(t);
  const { store } = service;
  for (const id of [1n, 2n, 3n]) {
    await place(store, pending(id));
    await store.apply([{ type: 'cancel', id, by: 'key_a' }]);
  }
  const all = await changes(service);
  const times = new Set<string>(all.changes.map(({ at }: { at: string }) => at));
  const ends = ['1970-01-01T00:00:00Z', '9999-12-31T23:59:59Z'];
  // A fraction of a millisecond after the first change.
  for (const since of [...times, ...ends, [...times][0]!.replace('Z', '001Z')]) {
    const from = Date.parse(since) + (since.endsWith('001Z') ? 1 : 0);
    const later = all.changes.filter(({ at }: { at: string }) => Date.parse(at) >= from);
    const page = await changes(service, `?since=${since}`);
    assert.deepEqual(page, { ...all, changes: later }, since);
  }
  const cancelled = await changes(service, `?since=${ends[0]}&by=key_a&limit=1`);
  assert.deepEqual(summary(cancelled.changes), ['cancelled 1 cancelled']);
  const refused = await service.call('GET', `${CHANGES}?since=${ends[0]}&after=start`);
  assert.deepEqual([refused.status, JSON.parse(refused.body).errors[0].parameter], [400, 'since']);
});

testService('changes of one revision are never split between pages', async (t) => {
  const service = await startService(t);
  const orders = Array.from({ length: 4_500 }, (_, index) => pending(BigInt(index + 1)));
  await place(service.store, pending(9_000n));
  await place(service.store, ...orders);
  await service.store.apply([
    { type: 'insertOrder', order: pending(9_001n) },
    { type: 'cancel', id: 9_001n },
    { type: 'cancel', id: 1n },
  ]);
  const pages: string[][] = [];
  for (let after = 'start'; ; ) {
    const page = await changes(service, `?after=${after}&limit=1`);
    pages.push(summary(page.changes));
    after = page.next;
    if (!page.more) break;
  }
  assert.deepEqual(
    pages.map(({ length }) => length),
    [1, 4_500, 3],
  );
  assert.deepEqual(pages[2], [
    'cancelled 1 cancelled',
    'placed 9001 pending',
    'cancelled 9001 cancelled',
  ]);
});

testService(
  'a cursor of another history of the store is 410, and a malformed cursor is 400',
  async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n));
    const { next } = await changes(service);
    const head = next.slice('1-'.length);
    for (const gone of [`1-${'f'.repeat(64)}`, `2-${head}`, `0-${head}`]) {
      const { status, body } = await service.call('GET', `${CHANGES}?after=${gone}`);
      assert.equal(status, 410, gone);
      assert.equal(JSON.parse(body).code, 'changes_gone');
    }
    const other = (parts: readonly unknown[]) =>
      Buffer.from(JSON.stringify(parts)).toString('base64url');
    for (const invalid of [
      ...['x', 'Start', `${next}A`, `01-${head}`, `-1-${head}`, `${2n ** 63n}-${head}`, '1-abc'],
      ...[`1-${head.slice(1)}G`, `1-${'F'.repeat(64)}`, '1', '1-'],
      ...[other([1, { toString: 1, valueOf: 1 }, { toString: 1 }]), other([2, 'x'])],
    ]) {
      const { status, body } = await service.call('GET', `${CHANGES}?after=${invalid}`);
      assert.equal(status, 400, invalid);
      assert.equal(JSON.parse(body).code, 'cursor_invalid');
    }
  },
);

testService(
  'the changes after a page of orders are those that the page does not show',
  async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n), pending(2n));
    const { body } = await service.call('GET', '/v2/store/orders');
    await service.store.apply([{ type: 'cancel', id: 2n }]);
    const later = await changes(service, `?after=${JSON.parse(body).changesAfter}`);
    assert.deepEqual(summary(later.changes), ['cancelled 2 cancelled']);
  },
);

test('a page has 100 changes by default, or up to the limit', async (t) => {
  const service = await startService(t);
  for (let id = 1n; id <= 101n; id += 1n) await place(service.store, pending(id));
  assert.equal((await changes(service)).changes.length, 100);
  assert.equal((await changes(service, '?limit=500')).changes.length, 101);
  for (const limit of ['0', '501', '']) {
    const { status, body } = await service.call('GET', `${CHANGES}?limit=${limit}`);
    assert.deepEqual([status, JSON.parse(body).code], [400, 'parameter_invalid'], limit);
  }
});

testService('a page of changes is 304 while no order has changed', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  await place(service.store, pending(2n));
  const path = `${CHANGES}?after=start&limit=1`;
  const { headers } = await service.call('GET', path);
  const ifNoneMatch = { 'if-none-match': String(headers.etag) };
  assert.equal((await service.call('GET', path, ifNoneMatch)).status, 304);
  // The changes are the same, but not the revision of the store.
  await service.store.apply([{ type: 'cancel', id: 2n }]);
  const { status, body } = await service.call('GET', path, ifNoneMatch);
  assert.deepEqual([status, JSON.parse(body).revision], [200, 3]);
});

testService(
  'changes can be filtered by pet, type and key, and the cursors are the same',
  async (t) => {
    const service = await startService(t);
    const { store } = service;
    const pet = (id: bigint) => ({ ...pending(id), petId: id % 2n });
    await place(store, pet(1n), pet(2n), pet(3n), pet(4n));
    await store.apply([{ type: 'cancel', id: 1n, by: 'key_a' }]);
    await store.apply([{ type: 'ship', id: 2n, by: 'key_a' }]);
    await store.apply([{ type: 'cancel', id: 4n, by: 'key_b' }]);
    const { next } = await changes(service);
    for (const [query, expected] of [
      ['petId=1', ['placed 1 pending', 'placed 3 pending', 'cancelled 1 cancelled']],
      ['type=cancelled', ['cancelled 1 cancelled', 'cancelled 4 cancelled']],
      ['type=cancelled,shipped&by=key_a', ['cancelled 1 cancelled', 'shipped 2 shipped']],
      ['by=key_b&petId=1', []],
    ] as const) {
      const page = await changes(service, `?${query}`);
      assert.deepEqual(summary(page.changes), expected, query);
      assert.deepEqual([page.next, page.more], [next, false]);
      const found = [];
      for (let after = 'start', more = true; more; ) {
        const part = await changes(service, `?${query}&limit=1&after=${after}`);
        found.push(...part.changes);
        ({ next: after, more } = part);
      }
      assert.deepEqual(summary(found), expected, query);
    }
    for (const wrong of ['petId=x', 'type=lost', 'type=', 'by=']) {
      assert.equal((await service.call('GET', `${CHANGES}?${wrong}`)).status, 400, wrong);
    }
  },
);
