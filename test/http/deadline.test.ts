import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimedOut } from '../../src/concurrency.ts';
import { inTime } from '../../src/http/request/deadline.ts';

test('a result that arrives after the deadline of its request does not count', async () => {
  const answerBy = performance.now() + 5;
  const late = inTime({ answerBy }, async () => {
    while (performance.now() <= answerBy) await Promise.resolve();
    return 'late';
  });
  await assert.rejects(late, TimedOut);
});

test('after the deadline nothing is begun', async () => {
  const answerBy = performance.now() - 1;
  assert.throws(() => inTime({ answerBy }, async () => assert.fail('begun')), TimedOut);
});
