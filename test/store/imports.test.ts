import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_IDS } from '../../src/domain/ids.ts';
import { INT64_MAX } from '../../src/domain/order.ts';
import type { Store } from '../../src/store/store.ts';
import { ENGINES, open, place, testStore } from './engines.ts';

/** A file of an import. */
const FILE = { name: 'a.csv', total: 4, isAgain: false };

const begin = (store: Store, source: string, run: string, from = 0, highestId = 0n) =>
  store.apply([{ type: 'beginImport', source, run, from, highestId, ...FILE }]);

const importOrders = (store: Store, source: string, run: string, ids: (bigint | undefined)[]) =>
  store.apply([
    {
      type: 'importOrders',
      source,
      run,
      auditId: 1n,
      orders: ids.map((id) => ({ id, status: 'pending' as const, quantity: 7n })),
    },
  ]);

const idsIn = async (store: Store) => {
  const ids: bigint[] = [];
  await store.history.scan(async (orders) => {
    ids.push(...orders.map(({ id }) => id));
  });
  return ids;
};

testStore(
  'imported orders without an id get ids above all existing and announced ids',
  async (_t, store) => {
    await store.apply([place({ id: 10n, status: 'pending' })]);
    await begin(store, 'a', '1');
    assert.deepEqual(await importOrders(store, 'a', '1', [undefined, undefined]), [{ placed: 2 }]);
    await begin(store, 'b', '1', 0, 100n);
    assert.deepEqual(await importOrders(store, 'a', '1', [undefined]), [{ placed: 1 }]);
    assert.deepEqual(await importOrders(store, 'b', '1', [50n, undefined]), [{ placed: 2 }]);
    assert.deepEqual(await idsIn(store), [10n, 11n, 12n, 50n, 101n, 102n]);
    await begin(store, 'c', '1', 0, INT64_MAX);
    assert.deepEqual(await importOrders(store, 'c', '1', [undefined]), [
      { refusal: 'no_ids_left' },
    ]);
  },
);

testStore(
  'an import resumes where it stopped, and only its latest run may continue',
  async (_t, store) => {
    const progress = async () => (await store.history.importProgress('a')).placed;
    const outOfTurn = [{ refusal: 'out_of_turn' }];
    assert.deepEqual(await importOrders(store, 'a', '1', [undefined]), outOfTurn);
    assert.deepEqual(await begin(store, 'a', '1'), ['begun']);
    await importOrders(store, 'a', '1', [undefined, 5n]);
    assert.equal(await progress(), 2);
    assert.deepEqual(await begin(store, 'a', '2', 0), ['out_of_turn']);
    assert.deepEqual(await begin(store, 'a', '2', 2), ['begun']);
    assert.deepEqual(await importOrders(store, 'a', '1', [undefined]), outOfTurn);
    assert.equal(await progress(), 2);
    const end = { type: 'endImport', source: 'a', run: '2' } as const;
    assert.deepEqual(await store.apply([{ ...end, run: '1' }]), ['out_of_turn']);
    assert.deepEqual(await store.apply([end]), ['ended']);
    assert.equal(await progress(), 0);
    assert.deepEqual(await importOrders(store, 'a', '2', [undefined]), outOfTurn);
    assert.equal((await idsIn(store)).length, 2);
  },
);

testStore(
  'finished imports are recorded, and are carried out again only on request',
  async (_t, store) => {
    const run = { source: 'a', run: '1' };
    await begin(store, 'a', '1');
    const [unfinished] = await store.history.imports();
    assert.deepEqual(unfinished, {
      ...{ source: 'a', name: FILE.name, placed: 0, total: FILE.total, finishedAt: undefined },
      begunAt: unfinished!.begunAt,
    });
    await importOrders(store, 'a', '1', [undefined, 900n]);
    await store.apply([{ type: 'endImport', ...run }]);
    const [finished] = await store.history.imports();
    assert.deepEqual([finished!.placed, typeof finished!.finishedAt], [2, 'number']);
    assert.deepEqual((await store.history.importProgress('a')).finished, finished);
    assert.deepEqual(await begin(store, 'a', '2'), ['already_imported']);
    const again = { ...run, run: '2', from: 0, highestId: 0n, ...FILE, isAgain: true };
    assert.deepEqual(await store.apply([{ type: 'beginImport', ...again }]), ['begun']);
    assert.deepEqual((await store.history.imports())[0]!.finishedAt, undefined);
    const forget = { type: 'forgetImport', source: 'a' } as const;
    assert.deepEqual(await store.apply([forget, forget]), ['forgotten', 'import_not_found']);
    assert.deepEqual(await store.history.imports(), []);
  },
);

testStore(
  'if one row differs from the existing order, no row of its batch is placed or counted',
  async (_t, store) => {
    await store.apply([place({ id: 2n, status: 'pending' })]);
    await begin(store, 'a', '1');
    assert.deepEqual(await importOrders(store, 'a', '1', [1n, undefined, 2n, 3n]), [
      { refusal: 'order_differs', index: 2 },
    ]);
    assert.deepEqual(await idsIn(store), [2n]);
    assert.deepEqual(await store.history.importProgress('a'), {
      placed: 0,
      finished: undefined,
      freeIds: { ...ALL_IDS, highest: 2n },
    });
    assert.equal((await store.status()).revision, 1n);
  },
);

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: concurrent imports of orders without ids assign unique, consecutive ids`, async (t) => {
    const url = await newDatabase(t);
    const stores = await Promise.all([open(t, url), open(t, url), open(t, url)]);
    await Promise.all(
      stores.map(async (store, index) => {
        const source = String(index);
        await begin(store, source, '1');
        for (let round = 0; round < 30; round += 1) {
          const outcome = await importOrders(store, source, '1', Array(20).fill(undefined));
          assert.deepEqual(outcome, [{ placed: 20 }]);
        }
      }),
    );
    const ids = await idsIn(stores[0]!);
    assert.deepEqual(
      ids,
      Array.from({ length: 1_800 }, (_, index) => BigInt(index + 1)),
    );
  });
}
