import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrderChange } from '../../src/domain/change.ts';
import { changeJson, formatInTurns } from '../../src/records/order-json.ts';

const change = (id: bigint): OrderChange => ({
  ...{ type: 'placed', by: undefined },
  order: { id, status: 'pending', placedAt: 0, updatedAt: 0, revision: 1n },
});

test('formatInTurns formats the 10,000 changes of one revision in many turns of the event loop', async () => {
  const changes = Array.from({ length: 10_000 }, (_, i) => change(BigInt(i)));
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const records = await formatInTurns(changes, changeJson);
  isDone = true;
  assert.deepEqual(records, changes.map(changeJson));
  assert.ok(turns >= 19, `${turns} turns`);
});

test('formatInTurns formats no changes', async () => {
  assert.deepEqual(await formatInTurns([], changeJson), []);
});
