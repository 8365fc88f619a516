import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../src/store/store.ts';
import { ENGINES, open, queryDatabase } from './engines.ts';

const HOUR_S = 3_600;

const cancel = (id: bigint, cancelsPerHour: number) =>
  ({ type: 'cancel', id, by: 'key_a', cancelsPerHour }) as const;

async function placeOrders(store: Store, count: number): Promise<bigint[]> {
  const ids = Array.from({ length: count }, (_, index) => BigInt(index + 1));
  await store.apply(
    ids.map((id) => ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const),
  );
  return ids;
}

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: the cancels of many transactions count together`, async (t) => {
    const store = await open(t, await newDatabase(t));
    for (const id of await placeOrders(store, 12)) {
      const [outcome] = await store.apply([cancel(id, 10)]);
      assert.equal(outcome === 'cancelled', id <= 10n, `cancel ${id}: ${JSON.stringify(outcome)}`);
    }
    assert.equal((await store.status()).orders.cancelled, 10n);
  });

  test(`${name}: cancels count for an hour, and are then deleted by a later one`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    const now = Math.floor(Date.now() / 1000);
    const seconds = async () =>
      (await queryDatabase(url, 'SELECT second FROM cancel_uses ORDER BY second')).map(Number);
    await placeOrders(store, 3);
    await queryDatabase(
      url,
      `INSERT INTO cancel_uses (key_id, second, count) VALUES
        ('key_a', ${now - HOUR_S - 60}, 5), ('key_a', ${now - HOUR_S + 60}, 1),
        ('key_b', ${now - HOUR_S + 60}, 5)`,
    );
    assert.deepEqual(await store.apply([cancel(1n, 3)]), ['cancelled']);
    const kept = await seconds();
    assert.deepEqual(kept.slice(0, 2), [now - HOUR_S + 60, now - HOUR_S + 60]);
    assert.equal(kept.length, 3);
    const [, refused] = await store.apply([cancel(2n, 3), cancel(3n, 3)]);
    const retryAt = (now - HOUR_S + 60 + HOUR_S) * 1000;
    assert.deepEqual(refused, { refusal: 'cancel_limit_reached', retryAt });
  });

  test(`${name}: the cancels of a key on two nodes at once do not exceed its limit`, async (t) => {
    const url = await newDatabase(t);
    const nodes = [await open(t, url), await open(t, url)];
    const ids = await placeOrders(nodes[0]!, 40);
    await Promise.all(ids.map((id) => nodes[Number(id % 2n)]!.apply([cancel(id, 10)])));
    assert.equal((await nodes[0]!.status()).orders.cancelled, 10n);
  });

  test(`${name}: a key places as many orders in an hour as it may, over all nodes, besides its cancels`, async (t) => {
    const url = await newDatabase(t);
    const nodes = [await open(t, url), await open(t, url)];
    await placeOrders(nodes[0]!, 1);
    const placing = (key: string, by = 'key_a') =>
      ({
        ...({ type: 'placeOrder', draft: { status: 'pending' }, by } as const),
        ...{ idempotencyKey: key, digest: 'd', placesPerHour: 5 },
      }) as const;
    const keys = Array.from({ length: 20 }, (_, index) => `${index}`);
    const outcomes = await Promise.all(
      keys.map((key, index) => nodes[index % 2]!.apply([placing(key)])),
    );
    const placed = outcomes.flat().filter(({ refusal }) => refusal === undefined);
    assert.equal(placed.length, 5);
    const [refused] = await nodes[0]!.apply([placing('later')]);
    assert.equal(refused!.refusal, 'place_limit_reached');
    // A repetition places nothing, other keys and cancels have limits of their own.
    const known = keys.find((_, index) => outcomes[index]![0]!.refusal === undefined)!;
    const others = await nodes[1]!.apply([placing(known), placing('b', 'key_b'), cancel(1n, 1)]);
    assert.deepEqual(
      others.map((each) => (typeof each === 'object' && 'isReplay' in each ? each.isReplay : each)),
      [true, false, 'cancelled'],
    );
  });
}
