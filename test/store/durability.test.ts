import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, ENGINES, open, place } from './engines.ts';

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: written data persists after closing and reopening`, async (t) => {
    const url = await newDatabase(t);
    const first = await open(t, url);
    await first.apply([place({ id: 1n, status: 'pending' })]);
    const before = await first.status();
    await first.close();
    const second = await open(t, url);
    assert.deepEqual(await second.status(), before);
    assert.deepEqual(await changed(second, 0n), { revision: 1n, ids: [1n] });
  });

  test(`${name}: two stores on one database see each other's changes at once`, async (t) => {
    const url = await newDatabase(t);
    const [one, other] = [await open(t, url), await open(t, url)];
    for (let id = 1n; id <= 50n; id += 1n) {
      await (id % 2n ? one : other).apply([place({ id, status: 'pending' })]);
      assert.deepEqual(await changed(id % 2n ? other : one, id - 1n), { revision: id, ids: [id] });
    }
  });

  test(`${name}: close waits for reads in progress`, async (t) => {
    const store = await open(t, await newDatabase(t));
    const ids = Array.from({ length: 3_000 }, (_, index) => BigInt(index));
    await store.apply(ids.map((id) => place({ id, petId: 7n, status: 'pending' })));
    const filter = { petId: 7n };
    const scanned: bigint[] = [];
    const reads = [
      store.page({
        filter: { ...filter, statuses: ['cancelled'] },
        isDescending: true,
        limit: 100,
      }),
      ...Array.from({ length: 12 }, () => store.count(filter)),
      store.activity({ boundaries: [0, Date.now() + 60_000] }),
      store.feed('start', 100),
      store.changedOrders(undefined, () => {}),
      store.history.scan(async (orders) => {
        scanned.push(...orders.map(({ id }) => id));
        return true;
      }),
      store.orders([1n]),
      store.events(1n),
      store.status(),
    ];
    const ends = Promise.allSettled(reads);
    await store.close();
    const failed = (await ends).filter(({ status }) => status === 'rejected');
    assert.deepEqual(failed, []);
    assert.equal(scanned.length, ids.length);
    await assert.rejects(store.status(), { fault: 'unreachable' });
  });

  test(`${name}: concurrent writers do not lose changes`, async (t) => {
    const url = await newDatabase(t);
    const stores = [await open(t, url), await open(t, url)];
    await Promise.all(
      stores.flatMap((store, half) =>
        Array.from({ length: 100 }, (_, index) =>
          store.apply([place({ id: BigInt(half * 100 + index), status: 'pending' })]),
        ),
      ),
    );
    const { revision, orders } = await stores[0]!.status();
    assert.equal(revision, 200n);
    assert.equal(orders.pending, 200n);
  });
}
