import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConcurrencyLimit, Mutex, TimedOut, withTimeout } from '../src/concurrency.ts';

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

test('a bounded number of tasks wait for their turn, in order', async () => {
  const limit = new ConcurrencyLimit(1, refusal, { max: 2, limitMs: 60_000 });
  const begun: number[] = [];
  const end: (() => void)[] = [];
  const run = (number: number) =>
    limit.run(() => {
      begun.push(number);
      return new Promise<void>((resolve) => end.push(resolve));
    });
  const all = [run(1), run(2), run(3)];
  await assert.rejects(run(4), /too many/);
  assert.deepEqual(begun, [1]);
  for (const each of all) {
    end.shift()!();
    await each;
    await new Promise(setImmediate);
  }
  assert.deepEqual(begun, [1, 2, 3]);
  assert.equal(await limit.run(async () => 'free again'), 'free again');
});

test('a task that has waited for too long does not run', async () => {
  const limit = new ConcurrencyLimit(1, refusal, { max: 1, limitMs: 0 });
  let end = () => {};
  const first = limit.run(() => new Promise<void>((resolve) => (end = resolve)));
  const late = limit.run(async () => assert.fail('ran'));
  end();
  await first;
  await assert.rejects(late, /too many/);
  assert.equal(await limit.run(async () => 'free again'), 'free again');
});

test('tasks run one at a time, in order of submission', async () => {
  const mutex = new Mutex();
  const events: string[] = [];
  const task = (name: string) =>
    mutex.run(async () => {
      events.push(`${name} begins`);
      await Promise.resolve();
      events.push(`${name} ends`);
    });
  await Promise.all([task('first'), task('second')]);
  assert.deepEqual(events, ['first begins', 'first ends', 'second begins', 'second ends']);
});

test('a failed task does not block the next one', async () => {
  const mutex = new Mutex();
  const failing = mutex.run(() => Promise.reject(new Error('failed')));
  const next = mutex.run(async () => 'done');
  await assert.rejects(failing, /failed/);
  assert.equal(await next, 'done');
});

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
