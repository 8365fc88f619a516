import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BulkCommand, BulkOutcome } from '../../src/domain/bulk.ts';
import { databaseAt } from '../../src/store/database.ts';
import type { Store } from '../../src/store/store.ts';
import { ENGINES, open, queryDatabase, testStore } from './engines.ts';

const HOUR_MS = 3_600_000;

function cancelAll(ids: readonly bigint[], more: Partial<BulkCommand> = {}): BulkCommand {
  const changes = ids.map((id) => ({ type: 'cancel', id, by: 'key_a' }) as const);
  return { type: 'bulk', changes, isAtomic: false, ...more };
}

const named = (idempotencyKey: string, digest = 'd') => ({
  repeatable: { by: 'key_a', idempotencyKey, digest },
});

const place = (store: Store, ...ids: readonly bigint[]) =>
  store.apply(
    ids.map((id) => ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const),
  );

const resultsOf = (outcome: BulkOutcome | undefined) =>
  outcome === undefined || !('results' in outcome) ? outcome : outcome.results;

testStore('several orders are changed in one revision, each for itself', async (_t, store) => {
  await place(store, 1n, 2n, 3n);
  await store.apply([{ type: 'ship', id: 2n }]);
  const { revision } = await store.status();
  const [outcome] = await store.apply([
    {
      ...cancelAll([]),
      changes: [
        { type: 'cancel', id: 3n },
        { type: 'cancel', id: 2n },
        { type: 'cancel', id: 9n },
        { type: 'cancel', id: 1n, ifRevision: 7n },
      ],
    },
  ]);
  assert.deepEqual(resultsOf(outcome), [
    ...['cancelled', 'order_already_shipped', 'order_not_found', 'order_changed'],
  ]);
  assert.equal((await store.status()).revision, revision + 1n);
  const records = await store.orders([3n, 1n, 2n, 9n]);
  assert.deepEqual(
    new Map(records.map(({ id, status, revision: changedIn }) => [id, [status, changedIn]])),
    new Map([
      [1n, ['pending', 1n]],
      [2n, ['shipped', 2n]],
      [3n, ['cancelled', 3n]],
    ]),
  );
  assert.deepEqual(
    records.find(({ id }) => id === 3n),
    (await store.orders([3n]))[0],
  );
  assert.deepEqual(await store.orders([]), []);
});

testStore('an atomic command changes all orders or none', async (_t, store) => {
  await place(store, 1n, 2n, 3n);
  const { revision } = await store.status();
  const [refused] = await store.apply([cancelAll([1n, 9n, 2n], { isAtomic: true })]);
  assert.deepEqual(refused, {
    refusal: 'orders_not_changed',
    results: ['cancelled', 'order_not_found', 'cancelled'],
  });
  assert.equal((await store.status()).revision, revision);
  const [done, later] = await store.apply([
    cancelAll([1n, 2n], { isAtomic: true }),
    cancelAll([2n, 3n], { isAtomic: true }),
  ]);
  assert.deepEqual(resultsOf(done), ['cancelled', 'cancelled']);
  assert.equal(later!.refusal, 'orders_not_changed');
  assert.deepEqual((await store.status()).orders, { pending: 1n, shipped: 0n, cancelled: 2n });
  await place(store, 4n);
  await store.apply([{ type: 'ship', id: 3n }]);
  const ships = [3n, 4n].map((id) => ({ type: 'ship', id }) as const);
  const [unchanged] = await store.apply([{ type: 'bulk', changes: ships, isAtomic: true }]);
  assert.deepEqual(unchanged, {
    ...{ refusal: 'orders_not_changed', results: ['unchanged', 'shipped'] },
  });
});

testStore(
  'the cancels of a limited key are counted, of an atomic command all or none',
  async (_t, store) => {
    await place(store, 1n, 2n, 3n, 4n, 5n, 6n);
    const limited = (ids: readonly bigint[], isAtomic: boolean): BulkCommand => ({
      ...cancelAll(ids),
      isAtomic,
      changes: ids.map((id) => ({ type: 'cancel', id, by: 'key_a', cancelsPerHour: 3 })),
    });
    const [first] = await store.apply([limited([1n, 2n], true)]);
    assert.deepEqual(resultsOf(first), ['cancelled', 'cancelled']);
    const [refused] = await store.apply([limited([3n, 4n], true)]);
    assert.equal(refused!.refusal, 'cancel_limit_reached');
    const [never] = await store.apply([limited([3n, 4n, 5n, 6n], true)]);
    assert.deepEqual(never, {
      refusal: 'orders_not_changed',
      results: [...Array(3).fill('cancelled'), 'cancel_limit_reached'],
    });
    const [part] = await store.apply([limited([3n, 4n, 5n], false)]);
    assert.deepEqual(resultsOf(part), [
      'cancelled',
      'cancel_limit_reached',
      'cancel_limit_reached',
    ]);
    assert.ok(part!.refusal === undefined && part!.retryAt! > Date.now());
  },
);

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: a command with an idempotency key has the same results again, for three days`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    await place(store, 1n, 2n, 3n, 4n);
    const age = (ms: number) => queryDatabase(url, `UPDATE changed_all SET at = at - ${ms}`);
    const command = cancelAll([1n, 9n], named('k'));
    const [first, inBatch] = await store.apply([command, command]);
    assert.deepEqual(first, {
      results: ['cancelled', 'order_not_found'],
      isReplay: false,
      retryAt: undefined,
    });
    const again = { results: ['cancelled', 'order_not_found'], isReplay: true };
    assert.deepEqual(inBatch, again);
    const { revision } = await store.status();
    assert.deepEqual(await store.apply([command]), [again]);
    // What has changed nothing is tried again.
    const nothing = cancelAll([1n, 9n], named('nothing'));
    const unchanged = {
      ...{ results: ['order_already_cancelled', 'order_not_found'], isReplay: false },
      retryAt: undefined,
    };
    assert.deepEqual(await store.apply([nothing, nothing]), [unchanged, unchanged]);
    assert.equal((await store.status()).revision, revision);
    const [reused] = await store.apply([cancelAll([2n], named('k', 'other'))]);
    assert.deepEqual(reused, { refusal: 'idempotency_key_reused' });
    const byAnother = { by: 'key_b', idempotencyKey: 'k', digest: 'other' };
    const [own] = await store.apply([cancelAll([2n], { repeatable: byAnother })]);
    assert.deepEqual(resultsOf(own), ['cancelled']);
    await age(72 * HOUR_MS - 60_000);
    await store.apply([cancelAll([3n], named('young'))]);
    assert.deepEqual(await store.apply([command]), [again]);
    await age(60_001);
    await store.apply([cancelAll([4n], named('later'))]);
    const kept = await queryDatabase(url, 'SELECT idempotency_key FROM changed_all ORDER BY 1');
    assert.deepEqual(kept, [['later'], ['young']]);
    const { problems, heads } = await databaseAt(url).check();
    assert.deepEqual([...problems, ...heads!.problems], []);
  });

  test(`${name}: nodes that change the same orders at once change each once`, async (t) => {
    const url = await newDatabase(t);
    const nodes = [await open(t, url), await open(t, url), await open(t, url)];
    const ids = Array.from({ length: 300 }, (_, index) => BigInt(index + 1));
    await place(nodes[0]!, ...ids);
    const outcomes = await Promise.all(
      nodes.flatMap((node, which) =>
        [0, 100, 200].map((from) => {
          const part = ids.slice(from, from + 100);
          const names = which === 2 ? named(`k${from}`) : {};
          return node.apply([cancelAll(which === 1 ? part.toReversed() : part, names)]);
        }),
      ),
    );
    const done = outcomes
      .flatMap(([outcome]) => resultsOf(outcome) as string[])
      .filter((result) => result === 'cancelled');
    assert.equal(done.length, 300);
    assert.equal((await nodes[0]!.status()).orders.cancelled, 300n);
  });
}
