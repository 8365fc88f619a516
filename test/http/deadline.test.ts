import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimedOut } from '../../src/concurrency.ts';
import { Exchange, inTime } from '../../src/http/request/exchange.ts';

test('a request is answered within two seconds of its arrival', (t) => {
  let now = 5;
  t.mock.method(performance, 'now', () => now);
  const request = { url: '/', method: 'GET', headers: {}, socket: {} };
  const exchange = new Exchange(request as never, {} as never, { find: () => ({}) as never });
  assert.equal(exchange.answerBy, 5 + 1_800);
  now = 7;
  exchange.allowTime();
  assert.equal(exchange.answerBy, 7 + 1_800);
});

test('a result that arrives after the deadline of its request does not count', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const late = inTime({ answerBy: 5 }, async () => {
    now = 6;
    return 'late';
  });
  await assert.rejects(late, TimedOut);
});

test('after the deadline nothing is begun', async () => {
  const answerBy = performance.now() - 1;
  await assert.rejects(
    inTime({ answerBy }, async () => assert.fail('begun')),
    TimedOut,
  );
});
