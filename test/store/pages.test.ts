import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Position } from '../../protocol/history.ts';
import type { OrderChange } from '../../src/domain/change.ts';
import type { OrderCommand } from '../../src/domain/lifecycle.ts';
import {
  INT64_MAX,
  INT64_MIN,
  ORDER_STATUSES,
  type OrderId,
  type OrderRecord,
  type OrderStatus,
} from '../../src/domain/order.ts';
import { type OrderFilter, SORTS, type Sort } from '../../src/store/order-filter.ts';
import { type OrderPage, type PagePlace, placeOf, UNDATED } from '../../src/store/pages.ts';
import type { Store } from '../../src/store/store.ts';
import { anyOrder } from '../domain/arbitraries.ts';
import { ENGINES, open, place, testStore } from './engines.ts';

const ids = fc.bigInt({ min: 1n, max: 12n });

/** In the order of their code points, which is another one than that of UTF-16. */
const REFERENCES = ['B', 'a', 'aB', 'ab', 'ab ', 'ab\ue000', 'ab\u{10000}', 'ab\u{10ffff}c', 'b'];

/** Commands on few orders, so that most of them meet. */
const command: fc.Arbitrary<OrderCommand> = fc.oneof(
  fc.record({ id: ids, order: anyOrder }).map(
    ({ id, order }): OrderCommand => ({
      type: 'insertOrder',
      // Few values, so that filters match some orders.
      order: {
        ...order,
        ...{ id, petId: id % 3n, shipDate: order.shipDate && Math.abs(order.shipDate) % 5 },
        reference: order.reference && REFERENCES[order.reference.length % REFERENCES.length],
      },
    }),
  ),
  ids.map((id): OrderCommand => ({ type: 'cancel', id, by: 'key_a' })),
  fc
    .record({ id: ids, at: fc.nat(5) })
    .map(({ id, at }): OrderCommand => ({ type: 'ship', id, at })),
);

const transactions = fc.array(fc.array(command, { minLength: 1, maxLength: 8 }), { maxLength: 6 });

const filter: fc.Arbitrary<OrderFilter> = fc.record({
  statuses: fc.option(fc.subarray([...ORDER_STATUSES], { minLength: 1 }), { nil: undefined }),
  petId: fc.option(fc.bigInt({ min: 0n, max: 2n }), { nil: undefined }),
  shipDateFrom: fc.option(fc.nat(4), { nil: undefined }),
  shipDateBefore: fc.option(fc.nat(5), { nil: undefined }),
  referencePrefix: fc.option(fc.constantFrom('a', 'ab', 'ab\u{10ffff}', '\u{10ffff}'), {
    nil: undefined,
    freq: 1,
  }),
  referenceContains: fc.option(fc.constantFrom('AB', 'b ', 'B\u{10000}', '\u{10ffff}C'), {
    nil: undefined,
  }),
});

/** Bounds of a time of the orders, as parts of the time that the test has taken until then. */
const timesIn = fc.record({
  from: fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined }),
  before: fc.option(fc.integer({ min: 0, max: 11 }), { nil: undefined }),
});

function matches(
  { status, petId, shipDate, placedAt, updatedAt, reference }: OrderRecord,
  {
    statuses,
    petId: pet,
    referencePrefix,
    referenceContains,
    shipDateFrom,
    shipDateBefore,
    placedFrom = 0,
    placedBefore = Number.POSITIVE_INFINITY,
    updatedFrom = 0,
    updatedBefore = Number.POSITIVE_INFINITY,
  }: OrderFilter,
): boolean {
  if (placedAt < placedFrom || placedAt >= placedBefore) return false;
  if (updatedAt < updatedFrom || updatedAt >= updatedBefore) return false;
  if (referencePrefix !== undefined && !reference?.startsWith(referencePrefix)) return false;
  const part = referenceContains?.toUpperCase();
  if (part !== undefined && !reference?.toUpperCase().includes(part)) return false;
  if (statuses !== undefined && !statuses.includes(status)) return false;
  if (pet !== undefined && petId !== pet) return false;
  if (shipDateFrom !== undefined && !(shipDate !== undefined && shipDate >= shipDateFrom)) {
    return false;
  }
  return shipDateBefore === undefined || (shipDate !== undefined && shipDate < shipDateBefore);
}

/** Orders by a sort order, then by id. */
function sorted(orders: readonly OrderRecord[], sort: Sort, isDescending: boolean): OrderRecord[] {
  const keysOf = (order: OrderRecord) => {
    const { sortKey, id } = placeOf(order, sort);
    return [...sortKey.map((key) => (typeof key === 'string' ? REFERENCES.indexOf(key) : key)), id];
  };
  const isBefore = (a: OrderRecord, b: OrderRecord) => {
    const [one, other] = [keysOf(a), keysOf(b)];
    const index = one.findIndex((key, at) => key !== other[at]);
    return index !== -1 && one[index]! < other[index]!;
  };
  const ascending = orders.toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
  if (!isDescending) return ascending;
  // Orders without a ship date are last, in either order.
  const isUndated = (order: OrderRecord) => placeOf(order, sort).sortKey[0] === UNDATED;
  const descending = ascending.reverse();
  return [...descending.filter((each) => !isUndated(each)), ...descending.filter(isUndated)];
}

/** The same commands on other orders: an order that is not pending never changes again. */
function shifted(history: readonly OrderCommand[][], by: OrderId): OrderCommand[][] {
  return history.map((commands) =>
    commands.map((each) =>
      each.type === 'insertOrder'
        ? { ...each, order: { ...each.order, id: each.order.id + by } }
        : { ...each, id: each.id + by },
    ),
  );
}

/** The whole feed, read in pages of `limit`. */
async function readFeed(store: Store, limit: number, after: Position | 'start' = 'start') {
  const changes: OrderChange[] = [];
  for (let position = after; ; ) {
    const page = await store.feed(position, limit);
    assert.ok(page !== undefined);
    changes.push(...page.changes);
    if (!page.isMore) return changes;
    assert.ok(page.changes.length > 0, 'a page of the feed with more behind it has changes');
    position = page.position;
  }
}

/** The orders as they were at a revision, by the feed. */
function ordersAt(changes: readonly OrderChange[], revision: bigint): OrderRecord[] {
  const orders = new Map<OrderId, OrderRecord>();
  for (const { order } of changes) if (order.revision <= revision) orders.set(order.id, order);
  return [...orders.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: the feed has every change once, with the order as it was after it`, async (t) => {
    const store = await open(t, await newDatabase(t), 'service');
    const expected: OrderChange[] = [];
    let runs = 0n;
    const property = async (history: OrderCommand[][], limit: number) => {
      runs += 1n;
      for (const commands of shifted(history, runs * 100n)) {
        const before = (await store.status()).revision;
        await store.apply(commands);
        // The state after each transaction is what find and history tell at that time.
        const touched = [
          ...new Set(commands.map((each) => ('id' in each ? each.id : each.order.id))),
        ];
        for (const id of touched.sort((a, b) => (a < b ? -1 : 1))) {
          const order = (await store.orders([id]))[0];
          const events = (await store.events(id)).filter(({ revision }) => revision > before);
          for (const { type, at, by, revision } of events) {
            const isLast = type === events.at(-1)!.type;
            const found = expected.find((each) => each.order.id === id)?.order;
            const placedAt = found?.placedAt ?? at;
            if (isLast)
              expected.push({ type, by, order: { ...order!, revision, updatedAt: at, placedAt } });
            else expected.push({ type, by, order: firstState(commands, id, { revision, at }) });
          }
        }
      }
      const found = (await readFeed(store, limit)).map(({ head: _, ...change }) => change);
      assert.deepEqual(found, expected);
    };
    await fc.assert(fc.asyncProperty(transactions, fc.integer({ min: 1, max: 9 }), property), {
      numRuns: 40,
    });
  });

  test(`${name}: pages keep the three guarantees while orders change between them`, async (t) => {
    const store = await open(t, await newDatabase(t), 'service');
    const begun = Date.now();
    let runs = 0n;
    const property = async (
      history: OrderCommand[][],
      {
        limit,
        isDescending,
        sort: chosenSort,
        placed,
        updated,
        ...rest
      }: {
        limit: number;
        isDescending: boolean;
        sort: Sort;
        placed: { from: number | undefined; before: number | undefined };
        updated: { from: number | undefined; before: number | undefined };
        chosen: OrderFilter;
      },
    ) => {
      const now = Date.now();
      const partOf = (part: number | undefined) =>
        part === undefined ? undefined : begun + Math.round(((now - begun) * part) / 10);
      const sort = rest.chosen.referenceContains === undefined ? chosenSort : 'id';
      const { referencePrefix = sort === 'reference' ? 'ab' : undefined } = rest.chosen;
      const chosen = {
        ...{ ...rest.chosen, referencePrefix },
        placedFrom: partOf(placed.from),
        placedBefore: partOf(placed.before),
        updatedFrom: partOf(updated.from),
        updatedBefore: partOf(updated.before),
      };
      const pages: OrderPage[] = [];
      runs += 1n;
      const writes = shifted(history, runs * 100n);
      await store.apply(writes.shift() ?? []);
      let after: PagePlace | undefined;
      do {
        const page = await store.page({ filter: chosen, sort, isDescending, after, limit });
        pages.push(page);
        after = page.next;
        // A change can move an order to another place.
        const isMoved = sort === 'shipDate' || sort === 'updatedAt';
        const commands = isMoved ? undefined : writes.shift();
        if (commands !== undefined) await store.apply(commands);
      } while (after !== undefined);
      const changes = await readFeed(store, 100);
      const seen = pages.flatMap(({ orders }) => orders);
      const first = pages[0]!.position;
      const last = pages.at(-1)!.position;

      // An order that matches during the whole walk is returned exactly once.
      const states = (id: OrderId) => [
        ...ordersAt(changes, first.revision).filter((order) => order.id === id),
        ...changes
          .filter(({ order }) => order.id === id)
          .map(({ order }) => order)
          .filter(({ revision }) => revision > first.revision && revision <= last.revision),
      ];
      for (const { id } of ordersAt(changes, first.revision)) {
        const isAlways = states(id).every((order) => matches(order, chosen));
        const times = seen.filter((order) => order.id === id).length;
        assert.ok(times <= 1, 'no order is returned twice');
        if (isAlways) assert.equal(times, 1, `order ${id} is returned`);
      }
      assert.deepEqual(seen, sorted(seen, sort, isDescending));

      // Equal revisions on all pages prove one snapshot.
      if (first.revision === last.revision) {
        const all = ordersAt(changes, first.revision).filter((each) => matches(each, chosen));
        assert.deepEqual(seen, sorted(all, sort, isDescending));
      }

      // The counts are those of the orders that match now.
      const counts = await store.count(chosen);
      const matching = ordersAt(changes, counts.position.revision).filter((each) =>
        matches(each, chosen),
      );
      const countOf = (status: OrderStatus) =>
        BigInt(matching.filter((each) => each.status === status).length);
      assert.deepEqual(counts.orders, {
        pending: countOf('pending'),
        shipped: countOf('shipped'),
        cancelled: countOf('cancelled'),
      });
      assert.ok(counts.isExact);

      // Otherwise the changes after the first page's position repair the rest.
      const replica = new Map(seen.map((each) => [each.id, each]));
      const later = await readFeed(store, limit, first);
      for (const change of later) {
        if (matches(change.order, chosen)) replica.set(change.order.id, change.order);
        else replica.delete(change.order.id);
      }
      const latest = ordersAt(changes, changes.at(-1)?.order.revision ?? 0n);
      assert.deepEqual(
        [...replica.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
        latest.filter((each) => matches(each, chosen)),
      );
    };
    const walk = fc.record({
      limit: fc.integer({ min: 1, max: 6 }),
      isDescending: fc.boolean(),
      sort: fc.constantFrom(...SORTS),
      placed: timesIn,
      updated: timesIn,
      chosen: filter,
    });
    await fc.assert(fc.asyncProperty(transactions, walk, property), { numRuns: 100 });
  });

  test(`${name}: a page is one snapshot, however many rows are examined while orders change`, async (t) => {
    const store = await open(t, await newDatabase(t), 'service');
    const count = 45_000;
    const ids = Array.from({ length: count }, (_, index) => BigInt(index + 1));
    for (let from = 0; from < count; from += 5_000) {
      const part = ids.slice(from, from + 5_000);
      await store.apply(
        part.map((id) => ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const),
      );
    }
    let isReading = true;
    const writing = (async () => {
      // Behind what a page looks at first.
      for (let id = BigInt(count); isReading; id -= 1n) await store.apply([{ type: 'ship', id }]);
    })();
    let shipped = 0;
    while (shipped < 100) {
      const { orders, position } = await store.page({
        filter: { statuses: ['shipped'] },
        isDescending: false,
        limit: 500,
      });
      for (const { revision } of orders) assert.ok(revision <= position.revision);
      shipped = Math.max(shipped, Number(position.revision) - count / 5_000);
    }
    isReading = false;
    await writing;
  });

  test(`${name}: a page after the last id of int64 is empty, in either order`, async (t) => {
    const store = await open(t, await newDatabase(t), 'service');
    await store.apply(
      [1n, INT64_MAX, INT64_MIN].map(
        (id) => ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const,
      ),
    );
    for (const filter of [{}, { petId: 1n }, { statuses: ['pending'] }] as const) {
      for (const [isDescending, id] of [
        [false, INT64_MAX],
        [true, INT64_MIN],
      ] as const) {
        const query = { filter, isDescending, after: { sortKey: [], id }, limit: 5 };
        const { orders, next } = await store.page(query);
        assert.deepEqual([orders, next], [[], undefined]);
      }
    }
  });
}

/** The state of an order that a transaction placed and then changed. */
function firstState(
  commands: readonly OrderCommand[],
  id: OrderId,
  { revision, at }: { revision: bigint; at: number },
): OrderRecord {
  const placed = commands.find((each) => each.type === 'insertOrder' && each.order.id === id);
  assert.ok(placed?.type === 'insertOrder');
  return { ...placed.order, revision, updatedAt: at, placedAt: at };
}

testStore(
  '"from" includes its time and "before" does not, whatever the orders are sorted by',
  async (_t, store) => {
    for (const id of [1n, 2n, 3n]) {
      // Each has times of its own.
      for (const since = Date.now(); Date.now() === since; ) await nextTurn();
      const order = { id, status: 'pending', shipDate: Number(id), reference: `a${id}` } as const;
      await store.apply([place(order)]);
    }
    const { placedAt, updatedAt } = (await store.orders([2n]))[0]!;
    for (const [time, at] of Object.entries({
      shipDate: 2,
      placed: placedAt,
      updated: updatedAt,
    })) {
      for (const [bound, expected] of Object.entries({ From: [2n, 3n], Before: [1n] })) {
        const filter = { [`${time}${bound}`]: at };
        assert.equal((await store.count(filter)).orders.pending, BigInt(expected.length));
        for (const sort of SORTS) {
          const ofAll = { referencePrefix: 'a', ...filter };
          const query = { filter: ofAll, sort, isDescending: false, limit: 9 };
          const ids = (await store.page(query)).orders.map((order) => order.id);
          assert.deepEqual(ids, expected, `${time}${bound} by ${sort}`);
        }
      }
    }
  },
);

testStore('counts and their position are of one state, even during writes', async (_t, store) => {
  let isDone = false;
  const writing = (async () => {
    for (let id = 1n; id <= 60n; id += 1n) {
      await store.apply([place({ id, status: 'pending' })]);
    }
    isDone = true;
  })();
  while (!isDone) {
    const { orders, position } = await store.count({});
    assert.equal(orders.pending, position.revision);
    // On SQLite a count takes no turn of the event loop, which the writes need.
    await nextTurn();
  }
  await writing;
});
