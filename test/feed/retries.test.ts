import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BEGINNING } from '../../protocol/history.ts';
import { newWebhook } from '../../src/domain/webhook.ts';
import { isDue, stateAfter, waitAfter } from '../../src/feed/deliveries/retries.ts';

const DAY_MS = 24 * 3_600_000;

const WEBHOOK = newWebhook({
  ...{ url: 'https://shop.example/', description: undefined, types: undefined },
  ...{ petIds: undefined, createdAt: 0, createdBy: undefined, keyName: 'k', position: BEGINNING },
});

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
  const answer = { problem: 'no answer within 15000 ms' };
  const { lastFailure, nextAttemptAt } = stateAfter(WEBHOOK, {
    to: BEGINNING,
    answer,
    sentAt: 1_000,
    now: 16_000,
  });
  assert.equal(lastFailure!.at, 1_000);
  assert.ok(nextAttemptAt! > 16_000);
});

test('a webhook is paused after three days and 50 failures, and not after either alone', () => {
  const to = BEGINNING;
  const reasonAfter = (failures: number, failingForMs: number) => {
    const state = { ...WEBHOOK, failures: failures - 1, failingSince: 1_000 };
    const now = 1_000 + failingForMs;
    return stateAfter(state, { to, answer: { status: 500, retryAfterMs: 0 }, sentAt: now, now })
      .pauseReason;
  };
  assert.equal(reasonAfter(50, 3 * DAY_MS), 'failed');
  assert.equal(reasonAfter(49, 3 * DAY_MS), undefined);
  assert.equal(reasonAfter(500, 3 * DAY_MS - 1), undefined);
  // Both begin again with a success.
  const answer = { status: 204, retryAfterMs: undefined };
  const failing = { ...WEBHOOK, failures: 49, failingSince: 1, nextAttemptAt: 2 };
  const { failures, failingSince, nextAttemptAt } = stateAfter(failing, {
    ...{ to, answer, sentAt: DAY_MS, now: DAY_MS },
  });
  assert.deepEqual([failures, failingSince, nextAttemptAt], [0, undefined, undefined]);
});

test('a repetition waits for its time, unless that was set by a clock that was ahead', () => {
  const isDueAfter = (ms: number) => isDue({ ...WEBHOOK, nextAttemptAt: DAY_MS }, DAY_MS + ms);
  assert.deepEqual([-1, 0].map(isDueAfter), [false, true]);
  // An hour, and a tenth of it.
  assert.deepEqual([-3_960_000, -3_960_001].map(isDueAfter), [false, true]);
});
