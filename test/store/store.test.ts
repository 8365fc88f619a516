import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { newApiKey, newSecret } from '../../src/keys/api-key.ts';
import { ALL_IDS } from '../../src/orders/ids.ts';
import { decide, type OrderCommand } from '../../src/orders/lifecycle.ts';
import { INT64_MAX, INT64_MIN, type Order } from '../../src/orders/order.ts';
import type { Store } from '../../src/store/store.ts';
import { anyOrder } from '../orders/arbitraries.ts';
import { ENGINES, open, queryDatabase } from './engines.ts';

/** A file of an import. */
const FILE = { name: 'a.csv', total: 4, isAgain: false };

/** An order of a model, as `decide` takes it. */
function knownIn(model: ReadonlyMap<bigint, Order>, id: bigint) {
  const order = model.get(id);
  return order && { order, revision: undefined };
}

for (const { name, newDatabase } of ENGINES) {
  const testStore = (title: string, run: (t: TestContext, store: Store) => Promise<void>) =>
    test(`${name}: ${title}`, async (t) => run(t, await open(t, await newDatabase(t))));

  testStore('a new store is empty, at revision 0', async (_t, store) => {
    const { revision, orders } = await store.status();
    assert.equal(revision, 0n);
    assert.deepEqual(orders, { pending: 0n, shipped: 0n, cancelled: 0n });
  });

  test(`${name}: a service assigns its store a unique id, which persists`, async (t) => {
    const url = await newDatabase(t);
    const { storeId } = await (await open(t, url, 'service')).status();
    assert.match(storeId, /^[0-9a-f]{16}$/);
    assert.equal((await (await open(t, url, 'service')).status()).storeId, storeId);
    const other = await open(t, await newDatabase(t), 'service');
    assert.notEqual((await other.status()).storeId, storeId);
  });

  testStore('the environment of a store is recorded once and then kept', async (_t, store) => {
    const record = (environment: 'production' | 'staging') =>
      store.apply([{ type: 'recordEnvironment', environment }]);
    assert.equal((await store.status()).environment, undefined);
    assert.deepEqual(await record('staging'), ['staging']);
    assert.deepEqual(await record('production'), ['staging']);
    assert.equal((await store.status()).environment, 'staging');
  });

  test(`${name}: a moved store can be neither listed nor written until it is taken back`, async (t) => {
    const url = await newDatabase(t);
    const [store, other] = [await open(t, url, 'service'), await open(t, url)];
    await store.apply([place({ id: 1n, status: 'pending' })]);
    const moment = await store.changes(undefined, () => {});
    const moveAway = (revision: bigint) =>
      other.apply([{ type: 'moveAway', to: 'there', revision } as const]);
    assert.deepEqual(await moveAway(0n), ['changed']);
    await store.apply([{ type: 'cancel', id: 2n }]);
    assert.deepEqual(await moveAway(1n), ['moved']);
    assert.equal((await store.status()).movedTo, 'there');
    const key = newApiKey(newSecret('production'), {
      ...{ name: 'k', environment: 'production', now: 0 },
    });
    for (const refused of [
      () => store.changes(moment, () => {}),
      () => store.changes(undefined, () => {}),
      () => store.page({ filter: {}, isDescending: false, limit: 1 }),
      () => store.feed('start', 1),
      () => store.feed('now', 1),
      () => store.record(1n),
      () => store.apply([{ type: 'cancel', id: 1n }]),
      () => store.apply([{ type: 'cancel', id: 404n }]),
      () => store.apply([place({ id: 2n, status: 'pending' })]),
      () => store.apply([{ type: 'createKey', key }]),
      () => store.apply([{ type: 'putPets', pets: [{ id: 1n }] }]),
      () => store.apply([{ type: 'importProgress', source: 'x' }]),
      () => store.apply([{ type: 'importOrders', source: 'x', run: 'y', orders: [], auditId: 1n }]),
      () => moveAway(1n),
    ]) {
      await assert.rejects(refused(), { name: 'StoreUnavailable', message: /was moved to/ });
    }
    assert.deepEqual(await other.apply([{ type: 'reactivate' }]), ['reactivated']);
    assert.deepEqual(await other.apply([{ type: 'reactivate' }]), ['unchanged']);
    assert.deepEqual(await store.apply([{ type: 'cancel', id: 1n }]), ['cancelled']);
    const { storeId, movedTo } = await store.status();
    assert.equal(movedTo, undefined);
    assert.notEqual(storeId, moment!.storeId);
    assert.equal(await store.changes(moment, () => {}), undefined);
  });

  testStore('any order is read back as it was placed', async (_t, store) => {
    const orders = fc.uniqueArray(anyOrder, { selector: ({ id }) => id, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(orders, async (placed) => {
        const fresh: Order[] = [];
        const known = await store.find(placed.map(({ id }) => id));
        for (const order of placed) {
          if (!known.some(({ id }) => id === order.id)) fresh.push(order);
        }
        await store.apply(fresh.map(place));
        assert.deepEqual(await store.find(fresh.map(({ id }) => id)), fresh);
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
            await store.find(ids),
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
        const history = await store.history(own);
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

  testStore(
    'changes() returns exactly the orders that changed after a revision',
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

  testStore('changes() reads one snapshot, even during concurrent writes', async (_t, store) => {
    const ids = Array.from({ length: 9_000 }, (_, index) => BigInt(index));
    await store.apply(ids.map((id) => place({ id, status: 'pending' })));
    const seen: string[] = [];
    let writing: Promise<unknown> | undefined;
    const moment = await store.changes(undefined, (orders) => {
      writing ??= store.apply([{ type: 'ship', id: 8_999n }]);
      seen.push(...orders.map(({ status }) => status));
    });
    await writing;
    assert.equal(moment?.revision, 1n);
    assert.equal(seen.length, 9_000);
    assert.ok(seen.every((status) => status === 'pending'));
    assert.deepEqual(await changed(store, 1n), { revision: 2n, ids: [8_999n] });
  });

  testStore(
    'changes() returns undefined for a moment outside the history of the store',
    async (_t, store) => {
      await store.apply([place({ id: 1n, status: 'pending' })]);
      const { storeId, mark } = await store.status();
      for (const since of [
        { storeId, revision: 2n, mark },
        { storeId, revision: 1n, mark: mark + 1n },
        { storeId: '0123456789abcdef', revision: 1n, mark },
      ]) {
        assert.equal(await store.changes(since, () => assert.fail('visited')), undefined);
      }
    },
  );

  testStore('every change records an event with its author and time', async (_t, store) => {
    const before = Date.now();
    await store.apply([
      place({ id: 1n, status: 'pending' }),
      { type: 'cancel', id: 1n, by: 'key_abc' },
      { type: 'cancel', id: 1n, by: 'key_def' },
    ]);
    const history = await store.history(1n);
    assert.deepEqual(
      history.map(({ revision, type, by }) => [revision, type, by]),
      [
        [1n, 'placed', undefined],
        [1n, 'cancelled', 'key_abc'],
      ],
    );
    for (const { at } of history) assert.ok(at >= before && at <= Date.now());
    assert.deepEqual(await store.history(2n), []);
  });

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
      (await store.history(1n)).map(({ type }) => type),
      ['placed', 'cancelled'],
    );
  });

  testStore('of 64 concurrent cancels of one order, one takes effect', async (_t, store) => {
    await store.apply([place({ id: 1n, status: 'pending' })]);
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, () => store.apply([{ type: 'cancel', id: 1n }])),
    );
    assert.equal(outcomes.flat().filter((outcome) => outcome === 'cancelled').length, 1);
    assert.equal((await store.history(1n)).length, 2);
  });

  testStore('scan() returns all orders in any status, by ascending id', async (_t, store) => {
    const ids = [INT64_MAX, INT64_MIN, 0n, 2n ** 53n + 1n, 2n ** 53n, -1n];
    await store.apply(ids.map((id) => place({ id, status: 'pending' })));
    await store.apply([{ type: 'cancel', id: 0n }]);
    const seen: bigint[] = [];
    await store.scan(async (orders) => {
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
      (await store.find(ids)).map(({ id }) => id),
      ids,
    );
    for (const id of ids) assert.equal((await store.history(id)).length, 2);
  });

  testStore(
    'scan() and changes() return all orders, even if a page ends with the highest id',
    async (_t, store) => {
      // A page has 512 or 2,000 orders.
      for (const [from, count] of [
        [1, 511],
        [512, 1_488],
      ] as const) {
        const ids = Array.from({ length: count }, (_, index) => BigInt(from + index));
        await store.apply([...ids, INT64_MAX].map((id) => place({ id, status: 'pending' })));
        const scanned: bigint[] = [];
        await store.scan(async (orders) => void scanned.push(...orders.map(({ id }) => id)));
        const listed: bigint[] = [];
        await store.changes(undefined, (orders) => void listed.push(...orders.map(({ id }) => id)));
        assert.equal(scanned.length, from + count);
        assert.equal(scanned.at(-1), INT64_MAX);
        assert.deepEqual(listed, scanned);
      }
    },
  );

  testStore(
    'keys are found by digest, record their latest use and are revoked once',
    async (_t, store) => {
      const key = newApiKey(newSecret('production'), {
        name: 'shop',
        environment: 'production',
        now: 1,
        expiresAt: 2,
        scopes: ['orders:read', 'changes:read'],
        cancelsPerHour: 9,
      });
      assert.deepEqual(await store.apply([{ type: 'createKey', key }]), ['created']);
      const [found] = await store.keys([new Uint8Array(32), key.digest]);
      assert.deepEqual(
        { ...found, digest: Buffer.from(found!.digest) },
        { ...key, revokedAt: undefined, lastUsedAt: undefined },
      );
      assert.equal((await store.keys()).length, 1);
      await store.apply([{ type: 'recordKeyUse', ids: [key.id, 'key_none'], at: 7 }]);
      await store.apply([{ type: 'recordKeyUse', ids: [key.id], at: 6 }]);
      assert.equal((await store.keys())[0]!.lastUsedAt, 7);
      const revoke = { type: 'revokeKey', id: key.id } as const;
      assert.deepEqual(await store.apply([revoke, revoke, { ...revoke, id: 'key_none' }]), [
        'revoked',
        'unchanged',
        'key_not_found',
      ]);
      assert.ok((await store.keys())[0]!.revokedAt! > 2);
    },
  );

  testStore('only one first key per environment is stored', async (_t, store) => {
    const firstKey = (environment: 'production' | 'staging') => ({
      type: 'createFirstKey' as const,
      key: newApiKey(newSecret(environment), { name: 'first', environment, now: 1 }),
    });
    const outcomes = await Promise.all([
      store.apply([firstKey('production')]),
      store.apply([firstKey('production'), firstKey('staging')]),
    ]);
    assert.deepEqual(outcomes.flat().sort(), ['created', 'created', 'unchanged']);
    assert.equal((await store.keys()).length, 2);
  });

  testStore('a pet replaces the pet with the same id', async (_t, store) => {
    await store.apply([{ type: 'putPets', pets: [{ id: 2n ** 60n, name: 'Ada', tag: 'cat' }] }]);
    const again = [{ id: 2n ** 60n, name: 'Eve' }, { id: 3n }, { id: 2n ** 60n, name: 'Bob' }];
    await store.apply([{ type: 'putPets', pets: again }]);
    assert.deepEqual(await store.pet(3n), { id: 3n, name: undefined, tag: undefined });
    assert.deepEqual(await store.pet(2n ** 60n), { id: 2n ** 60n, name: 'Bob', tag: undefined });
    assert.equal(await store.pet(1n), undefined);
  });

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
    await store.scan(async (orders) => {
      ids.push(...orders.map(({ id }) => id));
    });
    return ids;
  };

  testStore(
    'imported orders without an id get ids above all existing and announced ids',
    async (_t, store) => {
      await store.apply([place({ id: 10n, status: 'pending' })]);
      await begin(store, 'a', '1');
      assert.deepEqual(await importOrders(store, 'a', '1', [undefined, undefined]), [
        { placed: 2 },
      ]);
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
      const progress = async () =>
        (await store.apply([{ type: 'importProgress', source: 'a' }]))[0]!.placed;
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
      const [unfinished] = await store.imports();
      assert.deepEqual(unfinished, {
        ...{ source: 'a', name: FILE.name, placed: 0, total: FILE.total, finishedAt: undefined },
        begunAt: unfinished!.begunAt,
      });
      await importOrders(store, 'a', '1', [undefined, 900n]);
      await store.apply([{ type: 'endImport', ...run }]);
      const [finished] = await store.imports();
      assert.deepEqual([finished!.placed, typeof finished!.finishedAt], [2, 'number']);
      const [progress] = await store.apply([{ type: 'importProgress', source: 'a' }]);
      assert.deepEqual(progress!.finished, finished);
      assert.deepEqual(await begin(store, 'a', '2'), ['already_imported']);
      const again = { ...run, run: '2', from: 0, highestId: 0n, ...FILE, isAgain: true };
      assert.deepEqual(await store.apply([{ type: 'beginImport', ...again }]), ['begun']);
      assert.deepEqual((await store.imports())[0]!.finishedAt, undefined);
      const forget = { type: 'forgetImport', source: 'a' } as const;
      assert.deepEqual(await store.apply([forget, forget]), ['forgotten', 'import_not_found']);
      assert.deepEqual(await store.imports(), []);
    },
  );

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

  testStore(
    'if one row differs from the existing order, no row of its batch is placed or counted',
    async (_t, store) => {
      await store.apply([place({ id: 2n, status: 'pending' })]);
      await begin(store, 'a', '1');
      assert.deepEqual(await importOrders(store, 'a', '1', [1n, undefined, 2n, 3n]), [
        { refusal: 'order_differs', index: 2 },
      ]);
      assert.deepEqual(await idsIn(store), [2n]);
      assert.deepEqual(await store.apply([{ type: 'importProgress', source: 'a' }]), [
        { placed: 0, finished: undefined, freeIds: { ...ALL_IDS, highest: 2n } },
      ]);
      assert.equal((await store.status()).revision, 1n);
    },
  );

  testStore('a failed transaction has no effect', async (_t, store) => {
    const tooLarge = place({ id: INT64_MAX + 1n, status: 'pending' });
    await assert.rejects(store.apply([place({ id: 1n, status: 'pending' }), tooLarge]));
    assert.deepEqual(await store.find([1n]), []);
    assert.equal((await store.status()).revision, 0n);
    await store.apply([place({ id: 1n, status: 'pending' })]);
    assert.equal((await store.status()).orders.pending, 1n);
  });

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

function place(order: Order): Extract<OrderCommand, { type: 'insertOrder' }> {
  return { type: 'insertOrder', order };
}

function cancel(id: bigint): Extract<OrderCommand, { type: 'cancel' }> {
  return { type: 'cancel', id };
}

/** The revision, and the orders that changed after `since`; all listed orders for 0. */
async function changed(store: Store, since: bigint) {
  const { storeId, mark } = await store.status();
  const ids: bigint[] = [];
  const moment = await store.changes(
    since === 0n ? undefined : { storeId, revision: since, mark },
    (orders) => ids.push(...orders.map(({ id }) => id)),
  );
  assert.equal(moment?.storeId, storeId);
  return { revision: moment?.revision, ids };
}
