import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BEGINNING, headText, momentAfter } from '../../src/orders/heads.ts';
import type { Order, OrderId } from '../../src/orders/order.ts';
import type { ChangePage, FeedStart } from '../../src/store/feed.ts';
import { checkStore } from '../../src/store/maintenance/inspect.ts';
import type { Store } from '../../src/store/store.ts';
import { anyOrder } from '../orders/arbitraries.ts';
import { ENGINES, momentAt, open, queryDatabase } from './engines.ts';

/** Computes the head of a store from its feed, as a client does. */
async function headOfFeed(store: Store): Promise<string> {
  let moment = BEGINNING;
  let after: FeedStart = 'start';
  for (;;) {
    const page: ChangePage = (await store.feed(after, 500))!;
    moment = momentAfter(moment, page.changes);
    after = page.position;
    if (!page.isMore) return moment.head;
  }
}

async function ordersAt(store: Store, at?: bigint): Promise<Order[]> {
  const found: Order[] = [];
  await store.scan(async (orders) => void found.push(...orders), { at });
  return found;
}

const id: fc.Arbitrary<OrderId> = fc.bigInt({ min: 1n, max: 6n });
const by = fc.constantFrom(undefined, 'key_a', 'key_b');
const command = fc.oneof(
  fc
    .tuple(anyOrder, id)
    .map(([order, own]) => ({ type: 'insertOrder' as const, order: { ...order, id: own } })),
  fc.record({ type: fc.constant('cancel' as const), id, by }),
  fc.record({ type: fc.constant('ship' as const), id, by, at: fc.nat() }),
);

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: the head of random batches is that of the feed, and check reproduces it`, async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(command, { minLength: 1, maxLength: 12 }), { maxLength: 8 }),
        async (batches) => {
          const url = await newDatabase(t);
          const store = await open(t, url);
          for (const batch of batches) await store.apply(batch);
          const { head } = await store.status();
          assert.equal(head, await headOfFeed(store));
          await store.close();
          const { problems, ...found } = await checkStore(url);
          assert.deepEqual(problems, []);
          assert.equal(headText(found.head!), head);
        },
      ),
      { numRuns: 12 },
    );
  });

  test(`${name}: the orders of any revision are found again, as they were then`, async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(command, { minLength: 1, maxLength: 8 }), { maxLength: 6 }),
        async (batches) => {
          const store = await open(t, await newDatabase(t));
          const states = new Map<bigint, readonly Order[]>([[0n, []]]);
          for (const batch of batches) {
            await store.apply(batch);
            states.set((await store.status()).revision, await ordersAt(store));
          }
          for (const [at, orders] of states) assert.deepEqual(await ordersAt(store, at), orders);
          await store.close();
        },
      ),
      { numRuns: 12 },
    );
  });

  test(`${name}: a store of an earlier release gets the heads that it would have`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    for (let round = 1n; round <= 20n; round += 1n) {
      await store.apply([
        { type: 'insertOrder', order: { id: round, status: 'pending', petId: round } },
        { type: 'insertOrder', order: { id: round + 100n, status: 'shipped' } },
        { type: 'cancel', id: round - 1n },
        { type: 'insertOrder', order: { id: round + 200n, status: 'pending' } },
        { type: 'ship', id: round + 200n },
      ]);
    }
    const { head } = await store.status();
    await store.close();
    // As after an interruption: some heads are there.
    await queryDatabase(url, 'UPDATE order_events SET head = NULL WHERE revision > 7');
    await queryDatabase(url, 'UPDATE store SET head = NULL');
    await assert.rejects(open(t, url, 'write'), /run "store-orders migrate"/);
    const migrated = await open(t, url, 'migration');
    assert.equal((await migrated.status()).head, head);
    await migrated.close();
    assert.deepEqual((await checkStore(url)).problems, []);
  });

  test(`${name}: after an edit by hand and a rechain, only moments before it are in the past`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    for (const own of [1n, 2n, 3n]) {
      await store.apply([{ type: 'insertOrder', order: { id: own, status: 'pending' } }]);
    }
    const [before, after] = [await momentAt(store, 1n), await momentAt(store, 3n)];
    await queryDatabase(url, 'UPDATE orders SET quantity = 7 WHERE id = 2');
    const from = (await checkStore(url)).heads?.firstAltered;
    assert.equal(from, 2n);
    assert.deepEqual(await store.apply([{ type: 'rechain', from: from! }]), ['rechained']);
    assert.deepEqual((await checkStore(url)).problems, []);
    assert.equal((await store.feed(before, 9))!.changes.length, 2);
    assert.equal(await store.feed(after, 9), undefined);
    assert.equal(await store.changes(after, () => {}), undefined);
    await store.apply([{ type: 'cancel', id: 2n }]);
    assert.deepEqual((await checkStore(url)).problems, []);
  });

  test(`${name}: check finds each edit of the history, and names its revisions`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    const order = {
      id: 7n,
      status: 'pending',
      petId: 1n,
      quantity: 2n,
      shipDate: 5,
      complete: false,
    } as const;
    await store.apply([{ type: 'insertOrder', order }]);
    await store.apply([{ type: 'insertOrder', order: { ...order, id: 8n } }]);
    await store.apply([{ type: 'ship', id: 7n, by: 'key_a', at: 9 }]);
    await store.apply([{ type: 'cancel', id: 8n }]);
    const { head, revision } = await store.status();
    await store.close();
    const edits: readonly (readonly [edit: string, undo: string, revisions: readonly number[]])[] =
      [
        [
          'UPDATE orders SET quantity = 3 WHERE id = 7',
          'UPDATE orders SET quantity = 2 WHERE id = 7',
          [1, 3],
        ],
        [
          'UPDATE orders SET pet_id = 2 WHERE id = 8',
          'UPDATE orders SET pet_id = 1 WHERE id = 8',
          [2, 4],
        ],
        [
          'UPDATE orders SET ship_date = 8 WHERE id = 7',
          'UPDATE orders SET ship_date = 9 WHERE id = 7',
          [3],
        ],
        [
          "UPDATE order_events SET by = 'key_b' WHERE revision = 3",
          "UPDATE order_events SET by = 'key_a' WHERE revision = 3",
          [3],
        ],
        [
          'UPDATE order_events SET at = at + 1 WHERE revision = 2',
          'UPDATE order_events SET at = at - 1 WHERE revision = 2',
          [2],
        ],
        [
          'UPDATE order_events SET ship_date_before = 6 WHERE revision = 3',
          'UPDATE order_events SET ship_date_before = 5 WHERE revision = 3',
          [1],
        ],
      ];
    for (const [edit, undo, revisions] of edits) {
      await queryDatabase(url, edit);
      const { problems } = await checkStore(url);
      const named = problems.map((problem) =>
        Number(/revision (\d+) is not what/.exec(problem)?.[1]),
      );
      assert.deepEqual(named, revisions, edit);
      // A head of a later revision proves nothing then.
      assert.equal((await checkStore(url, { revision, head: head! })).heads?.hasAsked, false);
      await queryDatabase(url, undo);
    }
    assert.deepEqual((await checkStore(url)).problems, []);
    assert.equal((await checkStore(url, { revision, head: head! })).heads?.hasAsked, true);
    assert.equal((await checkStore(url, { revision: 3n, head: head! })).heads?.hasAsked, false);
  });
}
