import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BEGINNING } from '../../protocol/history.ts';
import { newWebhook } from '../../src/domain/webhook.ts';
import { stateAfter, waitAfter } from '../../src/feed/deliveries/repetitions.ts';

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

test('a failure has the time at which the delivery was sent', () => {
  const to = BEGINNING;
  const before = newWebhook({
    ...{ url: 'https://shop.example/', description: undefined, types: undefined },
    ...{ petIds: undefined, createdAt: 0, createdBy: undefined, keyName: 'k', position: to },
  });
  const answer = { problem: 'no answer within 15000 ms' };
  const { lastFailure, nextAttemptAt } = stateAfter(before, {
    to,
    answer,
    sentAt: 1_000,
    now: 16_000,
  });
  assert.equal(lastFailure!.at, 1_000);
  assert.ok(nextAttemptAt! > 16_000);
});

test('a webhook is paused after three days and 50 failures, and not after either alone', () => {
  const [to, day] = [BEGINNING, 24 * 3_600_000];
  const before = newWebhook({
    ...{ url: 'https://shop.example/', description: undefined, types: undefined },
    ...{ petIds: undefined, createdAt: 0, createdBy: undefined, keyName: 'k', position: to },
  });
  const reasonAfter = (failures: number, failingForMs: number) => {
    const state = { ...before, failures: failures - 1, failingSince: 1_000 };
    const now = 1_000 + failingForMs;
    return stateAfter(state, { to, answer: { status: 500, retryAfterMs: 0 }, sentAt: now, now })
      .pauseReason;
  };
  assert.equal(reasonAfter(50, 3 * day), 'failed');
  assert.equal(reasonAfter(49, 3 * day), undefined);
  assert.equal(reasonAfter(500, 3 * day - 1), undefined);
});
