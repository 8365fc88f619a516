import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitAfter } from '../../src/webhooks/delivering/repetitions.ts';

test('deliveries are repeated after 5 s, 30 s, 2 min, 10 min, and then every hour', () => {
  const waits = [1, 2, 3, 4, 5, 6, 1_000].map((failures) => waitAfter(failures, 0, 0) / 1_000);
  assert.deepEqual(waits, [5, 30, 120, 600, 3_600, 3_600, 3_600]);
  assert.equal(waitAfter(1, 0, 1), 5_500);
});

test('Retry-After is honoured, up to an hour', () => {
  assert.equal(waitAfter(1, 60_000, 0), 60_000);
  assert.equal(waitAfter(4, 60_000, 0), 600_000);
  assert.equal(waitAfter(1, 1e12, 0), 3_600_000);
});
