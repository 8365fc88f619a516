import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlaceOrderCommand, PlaceOrderOutcome } from '../../src/domain/placement.ts';
import { ENGINES, open, queryDatabase } from './engines.ts';

const DAY_MS = 24 * 3_600_000;

function placement(idempotencyKey: string, by = 'key_a'): PlaceOrderCommand {
  return {
    type: 'placeOrder',
    ...{ by, idempotencyKey, digest: 'd' },
    draft: { status: 'pending', petId: 1n },
  };
}

/** The id of an order that was placed, and whether it was placed before. */
function placed(outcome: PlaceOrderOutcome | undefined): [id: bigint, isReplay: boolean] {
  assert.ok(outcome?.refusal === undefined && outcome !== undefined);
  return [outcome.id, outcome.isReplay];
}

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: a placement is stored for three days, and then deleted by a later one`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    const place = async (key: string) => placed((await store.apply([placement(key)]))[0]);
    const age = (key: string, ms: number) =>
      queryDatabase(url, `UPDATE placements SET at = at - ${ms} WHERE idempotency_key = '${key}'`);
    assert.deepEqual(await place('young'), [1n, false]);
    assert.deepEqual(await place('old'), [2n, false]);
    await age('young', 3 * DAY_MS - 60_000);
    await age('old', 3 * DAY_MS + 1);
    assert.deepEqual(await place('later'), [3n, false]);
    assert.deepEqual(await place('young'), [1n, true]);
    assert.deepEqual(
      await queryDatabase(url, 'SELECT idempotency_key FROM placements ORDER BY 1'),
      [['later'], ['young']],
    );
    assert.deepEqual(await place('old'), [4n, false]);
  });

  test(`${name}: a placement is repeatable for a day if one clock is a day behind and another one a day ahead`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    const place = async (key: string) => placed((await store.apply([placement(key)]))[0]);
    assert.deepEqual(await place('wrong clock'), [1n, false]);
    // Placed a day ago, by a clock that was a day behind; and now the clock is a day ahead.
    await queryDatabase(url, `UPDATE placements SET at = at - ${3 * DAY_MS - 60_000}`);
    assert.deepEqual(await place('later'), [2n, false]);
    assert.deepEqual(await place('wrong clock'), [1n, true]);
  });

  test(`${name}: API keys that use the same idempotency key at once place an order each`, async (t) => {
    const store = await open(t, await newDatabase(t));
    const outcomes = await store.apply([placement('k', 'key_a'), placement('k', 'key_b')]);
    assert.deepEqual(outcomes.map(placed), [
      [1n, false],
      [2n, false],
    ]);
    const again = await store.apply([placement('k', 'key_b'), placement('k', 'key_a')]);
    assert.deepEqual(again.map(placed), [
      [2n, true],
      [1n, true],
    ]);
  });

  test(`${name}: new ids are above those of orders that the same transaction imports`, async (t) => {
    const store = await open(t, await newDatabase(t));
    const [, outcome] = await store.apply([
      { type: 'insertOrder', order: { id: 7n, status: 'pending' } },
      placement('k'),
    ]);
    assert.deepEqual(placed(outcome as PlaceOrderOutcome), [8n, false]);
    assert.equal((await store.status()).orders.pending, 2n);
  });

  test(`${name}: a placement is an event of the API key that made it`, async (t) => {
    const store = await open(t, await newDatabase(t), 'service');
    await store.apply([placement('k', 'key_a')]);
    assert.deepEqual(
      (await store.events(1n)).map(({ type, by }) => [type, by]),
      [['placed', 'key_a']],
    );
    assert.equal((await store.feed('start', 1))!.changes[0]!.by, 'key_a');
  });
}
