import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimedOut, withTimeout } from '../../src/concurrency/timeout.ts';

test('without time left the operation is not started', async () => {
  let started = 0;
  const start = async () => {
    started += 1;
  };
  for (const ms of [0, -1, -2_000]) {
    await assert.rejects(withTimeout(ms, start), TimedOut);
  }
  assert.equal(started, 0);
  await withTimeout(1_000, start);
  assert.equal(started, 1);
});

test('an operation without a result is given up after its time limit', async () => {
  await assert.rejects(
    withTimeout(1, () => new Promise(() => {})),
    TimedOut,
  );
});
