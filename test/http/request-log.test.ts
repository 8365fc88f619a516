import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayLogKeyless } from '../../src/http/request/request-log.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { startService } from './harness.ts';

test('of the requests without a valid key a hundred a second are logged, and then the number of the others', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => lines.push(line) });
  const loggedOf = (count: number) =>
    Array.from({ length: count }, () => mayLogKeyless(logger)).filter(Boolean).length;
  assert.equal(loggedOf(150), 100);
  t.mock.timers.tick(1_000);
  const [line] = lines.map((text) => JSON.parse(text));
  const msg = 'further requests without a valid key were not logged';
  assert.deepEqual([line.count, line.msg], [50, msg]);
  // The next second begins with its first request.
  t.mock.timers.tick(5_000);
  assert.equal(loggedOf(100), 100);
  t.mock.timers.tick(1_000);
  assert.equal(lines.length, 1);
});

test('the beginning of a long path is logged, of requests with and without a key', async (t) => {
  const { call, log } = await startService(t);
  const path = `/v1/${'a'.repeat(8_000)}`;
  await call('GET', path);
  await call('GET', path, { authorization: 'Bearer x' });
  const lines = log()
    .split('\n')
    .filter((line) => line.includes('aaaa'));
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).path),
    Array(2).fill(path.slice(0, 200)),
  );
});
