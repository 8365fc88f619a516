import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sequence } from '../../src/store/sequence.ts';
import { within } from '../../src/store/within.ts';

test('without time left the store is not asked', async () => {
  let asked = 0;
  const ask = async () => {
    asked += 1;
  };
  for (const ms of [0, -1, -2_000]) {
    await assert.rejects(within(ms, ask), /the request timed out before the store was asked/);
  }
  assert.equal(asked, 0);
  await within(1_000, ask);
  assert.equal(asked, 1);
});

test('a failed task does not block the next one', async () => {
  const sequence = new Sequence();
  const failing = sequence.run(() => Promise.reject(new Error('failed')));
  const next = sequence.run(async () => 'done');
  await assert.rejects(failing, /failed/);
  assert.equal(await next, 'done');
});
