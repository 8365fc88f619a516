import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decide, type OrderCommand } from '../../src/domain/lifecycle.ts';
import {
  byId,
  INT64_MAX,
  INT64_MIN,
  type Order,
  type OrderRecord,
} from '../../src/domain/order.ts';
import { anyOrder } from '../domain/arbitraries.ts';
import { cancel, changed, ENGINES, open, place, queryDatabase, testStore } from './engines.ts';

/** An order of a model, as `decide` takes it. */
function knownIn(model: ReadonlyMap<bigint, Order>, id: bigint) {
  const order = model.get(id);
  return order && { order, revision: undefined };
}

/** Returns an order without what the store has recorded about it. */
function fieldsOf({ placedAt: _, updatedAt: __, revision: ___, ...order }: OrderRecord): Order {
  return order;
}

testStore('any order is read as it was placed', async (_t, store) => {
  const orders = fc.uniqueArray(anyOrder, { selector: ({ id }) => id, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(orders, async (placed) => {
      const fresh: Order[] = [];
      const known = await store.orders(placed.map(({ id }) => id));
      for (const order of placed) {
        if (!known.some(({ id }) => id === order.id)) fresh.push(order);
      }
      await store.apply(fresh.map(place));
      const found = await store.orders(fresh.map(({ id }) => id));
      assert.deepEqual(found.map(fieldsOf).sort(byId), fresh.sort(byId));
    }),
    { numRuns: 50 },
  );
});

testStore(
  'commands are applied in order, with the outcomes of the lifecycle',
  async (_t, store) => {
    const id = fc.bigInt({ min: 1n, max: 6n });
    const command: fc.Arbitrary<OrderCommand> = fc.oneof(
      fc.tuple(id, anyOrder).map(([own, order]) => place({ ...order, id: own })),
      id.map((own) => ({ type: 'cancel', id: own }) as const),
      id.map((own) => ({ type: 'ship', id: own, at: 5 }) as const),
    );
    const model = new Map<bigint, Order>();
    const events = new Map<bigint, [revision: bigint, outcome: string][]>();
    let revision = 0n;
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 20 }), async (commands) => {
        let isChange = false;
        const expected = commands.map((each) => {
          const own = each.type === 'insertOrder' ? each.order.id : each.id;
          const { outcome, order } = decide(knownIn(model, own), each, 0);
          if (order === undefined) return outcome;
          isChange = true;
          model.set(own, order);
          events.set(own, [...(events.get(own) ?? []), [revision + 1n, outcome]]);
          return outcome;
        });
        if (isChange) revision += 1n;
        assert.deepEqual(await store.apply(commands), expected);
        const ids = [...model.keys()].sort();
        assert.deepEqual(
          (await store.orders(ids)).map(fieldsOf).sort(byId),
          ids.map((each) => model.get(each)),
        );
      }),
      { numRuns: 80 },
    );
    const { orders } = await store.status();
    for (const [status, count] of Object.entries(orders)) {
      const expected = [...model.values()].filter((order) => order.status === status).length;
      assert.equal(count, BigInt(expected), status);
    }
    for (const [own, expected] of events) {
      const history = await store.events(own);
      assert.deepEqual(
        history.map((event) => [event.revision, event.type]),
        expected,
      );
    }
    for (let since = 1n; since <= revision; since += 1n) {
      const ids = [...events].filter(([, all]) => all.at(-1)![0] > since).map(([own]) => own);
      assert.deepEqual(await changed(store, since), { revision, ids: ids.sort() });
    }
  },
);

testStore(
  'the revision grows with every transaction that changes an order, and with no other',
  async (_t, store) => {
    await store.apply([place({ id: 1n, status: 'pending' })]);
    assert.equal((await store.status()).revision, 1n);
    await store.apply([{ type: 'cancel', id: 2n }]);
    await store.apply([place({ id: 1n, status: 'pending' })]);
    assert.equal((await store.status()).revision, 1n);
    await store.apply([
      { type: 'ship', id: 1n },
      { type: 'cancel', id: 1n },
    ]);
    assert.equal((await store.status()).revision, 2n);
  },
);

testStore('every change records an event with its author and time', async (_t, store) => {
  const before = Date.now();
  await store.apply([
    place({ id: 1n, status: 'pending' }),
    { type: 'cancel', id: 1n, by: 'key_abc' },
    { type: 'cancel', id: 1n, by: 'key_def' },
  ]);
  const history = await store.events(1n);
  assert.deepEqual(
    history.map(({ revision, type, by }) => [revision, type, by]),
    [
      [1n, 'placed', undefined],
      [1n, 'cancelled', 'key_abc'],
    ],
  );
  for (const { at } of history) assert.ok(at >= before && at <= Date.now());
  assert.deepEqual(await store.events(2n), []);
});

testStore('of 64 concurrent cancels of one order, one takes effect', async (_t, store) => {
  await store.apply([place({ id: 1n, status: 'pending' })]);
  const outcomes = await Promise.all(
    Array.from({ length: 64 }, () => store.apply([{ type: 'cancel', id: 1n }])),
  );
  assert.equal(outcomes.flat().filter((outcome) => outcome === 'cancelled').length, 1);
  assert.equal((await store.events(1n)).length, 2);
});

testStore('scan() returns all orders in any status, by ascending id', async (_t, store) => {
  const ids = [INT64_MAX, INT64_MIN, 0n, 2n ** 53n + 1n, 2n ** 53n, -1n];
  await store.apply(ids.map((id) => place({ id, status: 'pending' })));
  await store.apply([{ type: 'cancel', id: 0n }]);
  const seen: bigint[] = [];
  await store.history.scan(async (orders) => {
    seen.push(...orders.map(({ id }) => id));
  });
  assert.deepEqual(seen, [INT64_MIN, -1n, 0n, 2n ** 53n, 2n ** 53n + 1n, INT64_MAX]);
});

testStore('ids are exact up to the limits of int64', async (_t, store) => {
  const ids = [INT64_MIN, INT64_MIN + 1n, -(2n ** 53n) - 1n, 2n ** 53n + 1n, INT64_MAX];
  await store.apply(ids.map((id) => place({ id, status: 'pending' })));
  for (const id of ids) assert.deepEqual(await store.apply([cancel(id)]), ['cancelled']);
  const repeated = await store.apply(ids.map(cancel));
  assert.ok(repeated.every((outcome) => outcome === 'order_already_cancelled'));
  assert.deepEqual(
    (await store.orders(ids)).map(({ id }) => id),
    ids,
  );
  for (const id of ids) assert.equal((await store.events(id)).length, 2);
});

testStore('a failed transaction has no effect', async (_t, store) => {
  const tooLarge = place({ id: INT64_MAX + 1n, status: 'pending' });
  await assert.rejects(store.apply([place({ id: 1n, status: 'pending' }), tooLarge]));
  assert.deepEqual(await store.orders([1n]), []);
  assert.equal((await store.status()).revision, 0n);
  await store.apply([place({ id: 1n, status: 'pending' })]);
  assert.equal((await store.status()).orders.pending, 1n);
});

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: events of one transaction are returned in order, wherever the database has stored them`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    await store.apply([place({ id: 1n, status: 'pending' }), { type: 'cancel', id: 1n }]);
    // Moves the first event behind the second one.
    for (const revision of [2, 1]) {
      await queryDatabase(
        url,
        `UPDATE order_events SET revision = ${revision} WHERE type = 'placed'`,
      );
    }
    assert.deepEqual(
      (await store.events(1n)).map(({ type }) => type),
      ['placed', 'cancelled'],
    );
  });
}
