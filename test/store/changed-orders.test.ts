import assert from 'node:assert/strict';
import { INT64_MAX } from '../../src/domain/order.ts';
import { changed, place, positionAt, testStore } from './engines.ts';

testStore(
  'changedOrders() returns exactly the orders that changed after a revision',
  async (_t, store) => {
    await store.apply([1n, 2n, 3n].map((id) => place({ id, status: 'pending' })));
    await store.apply([{ type: 'cancel', id: 3n }]);
    await store.apply([{ type: 'ship', id: 1n, at: 9 }]);
    assert.deepEqual(await changed(store, 0n), { revision: 3n, ids: [1n, 2n] });
    assert.deepEqual(await changed(store, 1n), { revision: 3n, ids: [1n, 3n] });
    assert.deepEqual(await changed(store, 2n), { revision: 3n, ids: [1n] });
    assert.deepEqual(await changed(store, 3n), { revision: 3n, ids: [] });
  },
);

testStore(
  'changedOrders() reads one snapshot, even during concurrent writes',
  async (_t, store) => {
    const ids = Array.from({ length: 9_000 }, (_, index) => BigInt(index));
    await store.apply(ids.map((id) => place({ id, status: 'pending' })));
    const seen: string[] = [];
    let writing: Promise<unknown> | undefined;
    const position = await store.changedOrders(undefined, (orders) => {
      writing ??= store.apply([{ type: 'ship', id: 8_999n }]);
      seen.push(...orders.map(({ status }) => status));
    });
    await writing;
    assert.equal(position?.revision, 1n);
    assert.equal(seen.length, 9_000);
    assert.ok(seen.every((status) => status === 'pending'));
    assert.deepEqual(await changed(store, 1n), { revision: 2n, ids: [8_999n] });
  },
);

testStore(
  'changedOrders() returns undefined for a position outside the history of the store',
  async (_t, store) => {
    await store.apply([place({ id: 1n, status: 'pending' })]);
    await store.apply([place({ id: 2n, status: 'pending' })]);
    const { head } = await positionAt(store, 2n);
    for (const since of [
      { revision: 3n, head },
      { revision: 2n, head: '0'.repeat(64) },
      { revision: 1n, head },
      { revision: 0n, head },
    ]) {
      assert.equal(await store.changedOrders(since, () => assert.fail('visited')), undefined);
    }
  },
);

testStore(
  'scan() and changedOrders() return all orders, even if a page ends with the highest id',
  async (_t, store) => {
    // A page has 512 or 2,000 orders.
    for (const [from, count] of [
      [1, 511],
      [512, 1_488],
    ] as const) {
      const ids = Array.from({ length: count }, (_, index) => BigInt(from + index));
      await store.apply([...ids, INT64_MAX].map((id) => place({ id, status: 'pending' })));
      const scanned: bigint[] = [];
      await store.history.scan(async (orders) => void scanned.push(...orders.map(({ id }) => id)));
      const listed: bigint[] = [];
      await store.changedOrders(
        undefined,
        (orders) => void listed.push(...orders.map(({ id }) => id)),
      );
      assert.equal(scanned.length, from + count);
      assert.equal(scanned.at(-1), INT64_MAX);
      assert.deepEqual(listed, scanned);
    }
  },
);
