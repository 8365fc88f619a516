import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { BEGINNING } from '../../protocol/history.ts';
import { positionAfterChanges } from '../../src/domain/heads.ts';
import type { Order, OrderId } from '../../src/domain/order.ts';
import { databaseAt } from '../../src/store/database.ts';
import type { ChangePage, FeedStart } from '../../src/store/feed.ts';
import type { Store } from '../../src/store/store.ts';
import { anyOrder } from '../domain/arbitraries.ts';
import { temporaryFolder } from '../temporary.ts';
import { ENGINES, newPostgresDatabase, open, positionAt, queryDatabase } from './engines.ts';

/** Computes the head of a store from its feed, as a client does. */
async function headOfFeed(store: Store): Promise<string> {
  let position = BEGINNING;
  let after: FeedStart = 'start';
  for (;;) {
    const page: ChangePage = (await store.feed(after, 500))!;
    position = positionAfterChanges(position, page.changes);
    after = page.position;
    if (!page.isMore) return position.head;
  }
}

async function ordersAt(store: Store, at?: bigint): Promise<Order[]> {
  const found: Order[] = [];
  await store.history.scan(async (orders) => void found.push(...orders), at);
  return found;
}

/** What a check of the rows and of the history finds. */
async function problemsIn(url: string, isSample = false): Promise<readonly string[]> {
  const { problems, heads } = await databaseAt(url).check({ isSample });
  return [...problems, ...heads!.problems];
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
          assert.deepEqual(await problemsIn(url), []);
          assert.equal((await databaseAt(url).check()).head, head);
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

  test(`${name}: after an edit by hand and a rechain, only positions before it are in the past`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    for (const own of [1n, 2n, 3n]) {
      await store.apply([{ type: 'insertOrder', order: { id: own, status: 'pending' } }]);
    }
    const [before, after] = [await positionAt(store, 1n), await positionAt(store, 3n)];
    await queryDatabase(url, 'UPDATE orders SET quantity = 7 WHERE id = 2');
    const from = (await databaseAt(url).check()).heads?.firstAltered;
    assert.equal(from, 2n);
    assert.deepEqual(await store.apply([{ type: 'rechain', from: from! }]), ['rechained']);
    assert.deepEqual(await problemsIn(url), []);
    assert.equal((await store.feed(before, 9))!.changes.length, 2);
    assert.equal(await store.feed(after, 9), undefined);
    assert.equal(await store.changedOrders(after, () => {}), undefined);
    await store.apply([{ type: 'cancel', id: 2n }]);
    assert.deepEqual(await problemsIn(url), []);
  });

  test(`${name}: a rechain follows the deletion of the last revisions`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    const place = (own: bigint) =>
      store.apply([{ type: 'insertOrder', order: { id: own, status: 'pending' } }]);
    for (const own of [1n, 2n, 3n]) await place(own);
    const [before, after] = [await positionAt(store, 2n), await positionAt(store, 3n)];
    for (const sql of [
      'DELETE FROM order_events WHERE revision = 3',
      'DELETE FROM orders WHERE id = 3',
      'UPDATE store SET pending = 2',
    ]) {
      await queryDatabase(url, sql);
    }
    const { firstAltered } = (await databaseAt(url).check()).heads!;
    assert.deepEqual(await store.apply([{ type: 'rechain', from: firstAltered! }]), ['rechained']);
    assert.deepEqual(await problemsIn(url), []);
    await place(4n);
    assert.equal(await store.feed(after, 9), undefined);
    assert.equal((await store.feed(before, 9))!.changes.length, 1);
    assert.deepEqual(await problemsIn(url), []);
  });

  test(`${name}: a sample of a long history has its end and random parts`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    for (let first = 1n; first <= 12_000n; first += 500n) {
      const orders = Array.from({ length: 500 }, (_, index) => ({
        type: 'insertOrder' as const,
        order: { id: first + BigInt(index), status: 'pending' as const },
      }));
      await store.apply(orders.slice(0, 250));
      await store.apply(orders.slice(250));
    }
    await store.close();
    assert.deepEqual(await problemsIn(url, true), []);
    await queryDatabase(url, 'UPDATE orders SET quantity = 1 WHERE id = 11999');
    assert.deepEqual(await problemsIn(url, true), [
      'revision 48 is not what its head proves: it was altered',
    ]);
    await queryDatabase(url, 'UPDATE orders SET quantity = NULL WHERE id = 11999');
    // All of what precedes the end, since the parts are at random.
    await queryDatabase(url, 'UPDATE order_events SET at = at + 1 WHERE revision < 8');
    assert.notDeepEqual(await problemsIn(url, true), []);
  });
}

test('SQLite: a store of an earlier release gets the heads that it would have', async (t) => {
  const url = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
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
  assert.match((await problemsIn(url)).join(), /heads .* have not all been computed/);
  const migrated = await open(t, url, 'migration');
  assert.equal((await migrated.status()).head, head);
  const [record] = await migrated.history.audit(1);
  assert.equal(record!.what, 'computed the heads of the revisions from 8 to 20');
  await migrated.close();
  assert.deepEqual(await problemsIn(url), []);
});

test('PostgreSQL: a store without heads, which no release has written, is refused', async (t) => {
  const url = await newPostgresDatabase(t);
  await (await open(t, url)).close();
  await queryDatabase(url, 'UPDATE store SET head = NULL');
  for (const purpose of ['write', 'service', 'migration'] as const) {
    await assert.rejects(open(t, url, purpose), /its history has no heads/);
  }
});
