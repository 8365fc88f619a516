import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Position } from '../../protocol/history.ts';
import { decide, type OrderCommand } from '../../src/domain/lifecycle.ts';
import { type Order, orderJson } from '../../src/domain/order.ts';
import { Listing, type Snapshot } from '../../src/listing/listing.ts';
import type { Store } from '../../src/store/store.ts';
import { until } from '../postgres.ts';

/** A minimal store in memory: orders by id, each with the revision of its last change. */
class PlainStore implements Pick<Store, 'changedOrders'> {
  readonly orders = new Map<bigint, { order: Order; revision: bigint }>();
  revision = 0n;
  reads = 0;

  apply(commands: readonly OrderCommand[]): void {
    this.revision += 1n;
    for (const command of commands) {
      const id = command.type === 'insertOrder' ? command.order.id : command.id;
      const { order } = decide(this.orders.get(id), command, 0);
      if (order !== undefined) this.orders.set(id, { order, revision: this.revision });
    }
  }

  async status() {
    const count = (status: string) =>
      BigInt([...this.orders.values()].filter(({ order }) => order.status === status).length);
    const orders = { pending: count('pending'), shipped: count('shipped'), cancelled: 0n };
    return { orders, revision: this.revision };
  }

  async changedOrders(since: Position | undefined, visit: (orders: readonly Order[]) => void) {
    this.reads += 1;
    const revision = this.revision;
    if (since !== undefined && since.revision > revision) return undefined;
    const changed = this.#sorted().filter((entry) => entry.revision > (since?.revision ?? 0n));
    for (let from = 0; from < changed.length; from += 300) {
      visit(changed.slice(from, from + 300).map(({ order }) => order));
      await new Promise(setImmediate);
    }
    return { revision, head: String(revision) };
  }

  /** The expected list, serialized from scratch. */
  json(): string {
    const listed = this.#sorted().filter(({ order }) => order.status !== 'cancelled');
    return `[${listed.map(({ order }) => orderJson(order)).join(',')}]`;
  }

  #sorted() {
    return [...this.orders.values()].sort((a, b) => (a.order.id < b.order.id ? -1 : 1));
  }
}

function bytes({ chunks, byteLength }: Snapshot): string {
  const all = Buffer.concat(chunks);
  assert.equal(all.length, byteLength);
  return all.toString();
}

const place = (id: bigint): OrderCommand => ({
  type: 'insertOrder',
  order: { id, status: 'pending', petId: id * 3n, shipDate: Number(id) * 1000, complete: false },
});

test('the list of an empty store is an empty array', async () => {
  const snapshot = await new Listing(new PlainStore()).current();
  assert.equal(bytes(snapshot), '[]');
  assert.equal(snapshot.count, 0);
});

test('after any sequence of changes the list equals one serialized from scratch', async () => {
  const id = fc.bigInt({ min: -40n, max: 4_000n });
  const command = fc.oneof(
    { weight: 3, arbitrary: id.map(place) },
    { weight: 2, arbitrary: id.map((order): OrderCommand => ({ type: 'cancel', id: order })) },
    { weight: 1, arbitrary: id.map((order): OrderCommand => ({ type: 'ship', id: order })) },
  );
  // Placing or cancelling a run of consecutive ids at once fills or empties blocks.
  const run = fc
    .tuple(id, fc.integer({ min: 1, max: 3_000 }), fc.boolean())
    .map(([first, count, placing]) =>
      Array.from({ length: count }, (_, index): OrderCommand => {
        const order = first + BigInt(index);
        return placing ? place(order) : { type: 'cancel', id: order };
      }),
    );
  const steps = fc.array(fc.oneof(fc.array(command, { maxLength: 60 }), run), { maxLength: 12 });

  await fc.assert(
    fc.asyncProperty(steps, async (batches) => {
      const store = new PlainStore();
      const listing = new Listing(store);
      for (const batch of batches) {
        store.apply(batch);
        const snapshot = await listing.current();
        assert.equal(snapshot.position.revision, store.revision);
        assert.equal(bytes(snapshot), store.json());
      }
    }),
    { numRuns: 60 },
  );
});

test('a snapshot never changes once it is returned', async () => {
  const store = new PlainStore();
  const listing = new Listing(store);
  store.apply(Array.from({ length: 3_000 }, (_, index) => place(BigInt(index))));
  const snapshot = await listing.current();
  const before = bytes(snapshot);
  store.apply([
    { type: 'cancel', id: 0n },
    { type: 'ship', id: 1_500n },
  ]);
  await listing.current();
  assert.equal(bytes(snapshot), before);
});

test('a change rebuilds only its block; the others are shared', async () => {
  const store = new PlainStore();
  const listing = new Listing(store);
  store.apply(Array.from({ length: 10_000 }, (_, index) => place(BigInt(index))));
  const before = new Set((await listing.current()).chunks);
  store.apply([{ type: 'cancel', id: 5_000n }]);
  const after = (await listing.current()).chunks;
  assert.equal(
    after.filter((chunk) => !before.has(chunk)).length,
    2,
    'the changed block, and a new view of the first',
  );
});

test('the number of blocks stays low when most orders leave the list', async () => {
  const store = new PlainStore();
  const listing = new Listing(store);
  store.apply(Array.from({ length: 20_000 }, (_, index) => place(BigInt(index))));
  await listing.current();
  for (let id = 0n; id < 20_000n; id += 1n) {
    if (id % 50n === 0n) continue;
    store.apply([{ type: 'cancel', id }]);
    if (id % 97n === 0n) await listing.current();
  }
  const { count, chunks } = await listing.current();
  assert.equal(count, 400);
  assert.ok(chunks.length < 12, `${chunks.length} chunks for ${count} orders`);
});

test('orders placed one by one, descending or scattered, do not fragment the list', async () => {
  const id = (index: number) => BigInt(index);
  const orders = {
    descending: Array.from({ length: 1_200 }, (_, index) => id(20_000 - index)),
    scattered: Array.from({ length: 1_200 }, (_, index) => id(1_000 + ((index * 7_919) % 9_973))),
  };
  for (const [pattern, ids] of Object.entries(orders)) {
    const store = new PlainStore();
    const listing = new Listing(store);
    store.apply(Array.from({ length: 512 }, (_, index) => place(id(index))));
    store.apply(Array.from({ length: 512 }, (_, index) => place(id(30_000 + index))));
    for (const each of ids) {
      store.apply([place(each)]);
      await listing.current();
    }
    const { count, chunks } = await listing.current();
    assert.ok(chunks.length < 20, `${pattern}: ${chunks.length} chunks for ${count} orders`);
  }
});

test('requests that arrive during a store read share the next read', async () => {
  const store = new PlainStore();
  const listing = new Listing(store);
  store.apply(Array.from({ length: 1_000 }, (_, index) => place(BigInt(index))));
  const first = listing.current();
  await until('a read', () => store.reads > 0);
  store.apply([{ type: 'cancel', id: 0n }]);
  const others = Array.from({ length: 50 }, () => listing.current());
  assert.equal((await first).position.revision, 1n);
  for (const other of others) assert.equal(bytes(await other), store.json());
  assert.equal(store.reads, 2);
});

test('requests in one turn of the event loop share one store read, which starts after all of them', async () => {
  const store = new PlainStore();
  const listing = new Listing(store);
  const first = listing.current();
  store.apply([place(1n)]);
  const second = listing.current();
  assert.equal(store.reads, 0);
  assert.equal(bytes(await first), store.json());
  assert.equal(await second, await first);
  assert.equal(store.reads, 1);
});

test('a failed store read leaves the list unchanged, and the next request retries', async () => {
  const store = new PlainStore();
  let isDown = false;
  const listing = new Listing({
    status: () => store.status(),
    changedOrders: (since, visit) =>
      store.changedOrders(since, (orders) => {
        visit(orders);
        if (isDown) throw new Error('gone');
      }),
  });
  store.apply(Array.from({ length: 2_000 }, (_, index) => place(BigInt(index))));
  await listing.current();
  store.apply(Array.from({ length: 1_000 }, (_, index) => ({ type: 'cancel', id: BigInt(index) })));
  isDown = true;
  await assert.rejects(listing.current(), /gone/);
  isDown = false;
  assert.equal(bytes(await listing.current()), store.json());
});

test('the first read has its progress, and the list is kept without waiting for it', async () => {
  const store = new PlainStore();
  store.apply(Array.from({ length: 1_000 }, (_, index) => place(BigInt(index))));
  const listing = new Listing(store);
  assert.deepEqual([listing.isInMemory, listing.firstRead], [false, undefined]);
  const first = listing.current();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  const { read, total, msLeft } = listing.firstRead!;
  assert.ok(read > 0 && read < 1_000, String(read));
  assert.equal(total, 1_000);
  assert.equal(msLeft, undefined, 'too early for an estimate');
  await listing.keep();
  assert.ok(listing.firstRead !== undefined, 'the read is still active');
  await first;
  assert.deepEqual([listing.isInMemory, listing.firstRead], [true, undefined]);
});

test('a list without requests is neither read nor kept for more than a day', async (t) => {
  const store = new PlainStore();
  store.apply([place(1n)]);
  let uses = 0;
  const listing = new Listing(store, {
    onUse: () => {
      uses += 1;
    },
  });
  const [hour, day] = [3_600_000, 86_400_000];
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  await listing.keep();
  assert.equal(store.reads, 0);
  await listing.current();
  now += hour;
  await listing.current();
  now += day - 1;
  store.apply([place(2n)]);
  await listing.keep();
  assert.deepEqual([store.reads, listing.isInMemory, uses], [3, true, 1]);
  const { replacedBytes } = await listing.current();
  now += day + 1;
  await listing.keep();
  assert.equal(listing.isInMemory, false);
  const again = await listing.current();
  assert.equal(bytes(again), store.json());
  assert.ok(again.replacedBytes >= replacedBytes);
  assert.equal(uses, 3);
});

test('a stop ends a first read', async () => {
  const store = new PlainStore();
  store.apply(Array.from({ length: 1_000 }, (_, index) => place(BigInt(index))));
  const listing = new Listing(store);
  const first = assert.rejects(listing.current(), { fault: 'unreachable' });
  await until('the first read', () => listing.firstRead !== undefined);
  listing.stop();
  await first;
  assert.deepEqual([listing.isInMemory, listing.firstRead], [false, undefined]);
});

test('a list that is read ahead is read again if that fails', async () => {
  const store = new PlainStore();
  store.apply([place(1n)]);
  let isDown = true;
  const listing = new Listing({
    status: () => (isDown ? Promise.reject(new Error('gone')) : store.status()),
    changedOrders: (since, visit) => store.changedOrders(since, visit),
  });
  listing.readAhead();
  await listing.current().catch(() => {});
  assert.equal(listing.isInMemory, false);
  isDown = false;
  await listing.keep();
  await listing.current();
  assert.equal(listing.isInMemory, true);
});

test('the list is rebuilt when the store has gone back to an earlier revision', async () => {
  const store = new PlainStore();
  const listing = new Listing(store);
  store.apply([place(1n)]);
  store.apply([place(2n)]);
  await listing.current();
  store.orders.delete(2n);
  store.revision = 1n;
  const snapshot = await listing.current();
  assert.equal(bytes(snapshot), store.json());
  assert.equal(snapshot.position.revision, 1n);
});

test('a block that grows by orders within its range is split', async () => {
  const store = new PlainStore();
  const listing = new Listing(store);
  const ids = Array.from({ length: 5_000 }, (_, index) => BigInt(index));
  store.apply(ids.filter((id) => id % 10n === 0n).map(place));
  await listing.current();
  store.apply(ids.filter((id) => id % 10n !== 0n).map(place));
  const { blocks } = await listing.current();
  const longest = Math.max(...blocks.map((block) => block.ids.length));
  assert.ok(longest <= 1_024, `${longest} orders in one block`);
});

test('orders behind a full block do not change it', async () => {
  const store = new PlainStore();
  const listing = new Listing(store);
  store.apply(Array.from({ length: 512 }, (_, index) => place(BigInt(index))));
  const before = (await listing.current()).blocks;
  store.apply([place(512n)]);
  const after = (await listing.current()).blocks;
  assert.equal(before.length, 1);
  assert.deepEqual([after.length, after[0] === before[0]], [2, true]);
});

test('without changes the same snapshot is returned', async () => {
  const store = new PlainStore();
  const listing = new Listing(store);
  store.apply([place(1n)]);
  const snapshot = await listing.current();
  assert.equal(await listing.current(), snapshot);
  assert.equal(store.reads, 2);
});

test('a list that is read again counts all bytes of the previous one as replaced', async () => {
  const store = new PlainStore();
  const listing = new Listing(store);
  store.apply([place(1n)]);
  store.apply([place(2n)]);
  const before = await listing.current();
  store.revision = 1n;
  const after = await listing.current();
  assert.equal(after.replacedBytes, before.replacedBytes + before.byteLength);
});

test('a list that has fewer orders than the store counts, as of a torn copy of its files, is reported', async () => {
  const store = new PlainStore();
  store.apply([
    { type: 'insertOrder', order: { id: 1n, status: 'pending' } },
    { type: 'insertOrder', order: { id: 2n, status: 'pending' } },
  ]);
  const found: unknown[] = [];
  const onMiscount = (...counts: unknown[]) => found.push(counts);
  await new Listing(store, { onMiscount }).current();
  assert.deepEqual(found, []);
  const status = async () => ({
    orders: { pending: 3n, shipped: 0n, cancelled: 0n },
    revision: store.revision,
  });
  const changedOrders: Store['changedOrders'] = (since, visit) => store.changedOrders(since, visit);
  await new Listing({ status, changedOrders }, { onMiscount }).current();
  assert.deepEqual(found, [[2, 3]]);
});
