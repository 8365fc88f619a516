import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApiKey, newSecret, secretDigest } from '../../src/domain/api-key.ts';
import { orderWithHistory, type Store } from '../../src/store/store.ts';
import { ENGINES, open, place, queryDatabase, testStore } from './engines.ts';

testStore('a new store is empty, at revision 0', async (_t, store) => {
  const { revision, orders } = await store.status();
  assert.equal(revision, 0n);
  assert.deepEqual(orders, { pending: 0n, shipped: 0n, cancelled: 0n });
});

testStore('the environment of a store is recorded once and then kept', async (_t, store) => {
  const record = (environment: 'production' | 'staging') =>
    store.apply([{ type: 'recordEnvironment', environment }]);
  assert.equal((await store.status()).environment, undefined);
  assert.deepEqual(await record('staging'), ['staging']);
  assert.deepEqual(await record('production'), ['staging']);
  assert.equal((await store.status()).environment, 'staging');
});

testStore('the use of the list is recorded, and changes nothing else', async (_t, store) => {
  await store.apply([place({ id: 1n, status: 'pending' })]);
  const before = await store.status();
  assert.equal(before.listedAt, undefined);
  await store.apply([{ type: 'recordListUse', at: 1_790_000_000_000 }]);
  assert.deepEqual(await store.status(), { ...before, listedAt: 1_790_000_000_000 });
});

/** All reads that requests are answered from. */
const SERVED: readonly ((store: Store) => Promise<unknown>)[] = [
  (store) => store.changedOrders(undefined, () => {}),
  (store) => store.page({ filter: {}, isDescending: false, limit: 1 }),
  (store) => store.feed('start', 1),
  (store) => store.feed('now', 1),
  (store) => store.orders([1n]),
  (store) => store.count({}),
  (store) => store.count({ petId: 1n }),
  (store) => store.status(),
  (store) => store.activity({ boundaries: [0, 1] }),
  (store) => store.pet(1n),
  (store) => store.webhooks(),
  (store) => store.keys([secretDigest(newSecret('production'))]),
];

test('SQLite: a store that another release has migrated is not served', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  const store = await open(t, url, 'service');
  await queryDatabase(url, 'PRAGMA user_version = 99');
  for (const read of SERVED) await assert.rejects(read(store), { fault: 'schema' }, String(read));
});

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: a moved store can be neither served nor written until it is reactivated`, async (t) => {
    const url = await newDatabase(t);
    const [store, other] = [await open(t, url, 'service'), await open(t, url)];
    await store.apply([place({ id: 1n, status: 'pending' })]);
    const position = await store.changedOrders(undefined, () => {});
    const moveAway = (revision: bigint) =>
      other.apply([{ type: 'moveAway', to: 'there', revision } as const]);
    assert.deepEqual(await moveAway(0n), ['changed']);
    await store.apply([{ type: 'cancel', id: 2n }]);
    assert.deepEqual(await moveAway(1n), ['moved']);
    assert.equal((await store.status({ evenIfMoved: true })).movedTo, 'there');
    const key = newApiKey(newSecret('production'), {
      ...{ name: 'k', environment: 'production', now: 0 },
    });
    for (const refused of [
      () => store.changedOrders(position, () => {}),
      ...SERVED.map((read) => () => read(store)),
      () => store.apply([{ type: 'cancel', id: 1n }]),
      () => store.apply([{ type: 'cancel', id: 404n }]),
      () => store.apply([place({ id: 2n, status: 'pending' })]),
      () => store.apply([{ type: 'createKey', key }]),
      () => store.apply([{ type: 'putPets', pets: [{ id: 1n }] }]),
      () => store.apply([{ type: 'importOrders', source: 'x', run: 'y', orders: [], auditId: 1n }]),
      () => moveAway(1n),
    ]) {
      await assert.rejects(refused(), { name: 'StoreUnavailable', message: /was moved to/ });
    }
    // Operators may still read it.
    const shown = await orderWithHistory(other, 1n, { evenIfMoved: true });
    assert.deepEqual([shown?.order.status, shown?.events.length], ['pending', 1]);
    assert.deepEqual(await other.apply([{ type: 'reactivate' }]), ['reactivated']);
    assert.deepEqual(await other.apply([{ type: 'reactivate' }]), ['unchanged']);
    assert.deepEqual(await store.apply([{ type: 'cancel', id: 1n }]), ['cancelled']);
    assert.equal((await store.status()).movedTo, undefined);
    // The history is the same up to the move.
    assert.equal(
      (await store.changedOrders(position, () => {}))?.revision,
      position!.revision + 1n,
    );
  });
}
