import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConcurrencyLimit } from '../../src/concurrency/limit.ts';

const refusal = () => new Error('too many');

test('tasks beyond the limit are refused at once, until a running task ends', async () => {
  const limit = new ConcurrencyLimit(2, refusal);
  const end: (() => void)[] = [];
  const run = () => limit.run(() => new Promise<void>((resolve) => end.push(resolve)));
  const first = run();
  const second = run();
  await assert.rejects(run(), /too many/);
  end.shift()!();
  await first;
  const third = run();
  await assert.rejects(run(), /too many/);
  for (const each of end) each();
  await Promise.all([second, third]);
});

test('a task that fails ends, too', async () => {
  const limit = new ConcurrencyLimit(1, refusal);
  await assert.rejects(
    limit.run(() => Promise.reject(new Error('failed'))),
    /failed/,
  );
  assert.equal(await limit.run(async () => 'done'), 'done');
});
