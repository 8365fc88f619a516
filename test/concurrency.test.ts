import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConcurrencyLimit, FairLimit, Mutex, TimedOut, withTimeout } from '../src/concurrency.ts';

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

const LIMITS = { max: 2, maxOfOne: 1, maxWaiting: 3, waitMs: 60_000 };

/** A limit, and tasks that run until they are ended. */
function fairLimit(limits = LIMITS) {
  const begun: string[] = [];
  const end = new Map<string, () => void>();
  const limit = new FairLimit(limits, (isOwnLoad) => new Error(isOwnLoad ? 'own load' : 'load'));
  const run = (name: string) =>
    limit.run(name[0]!, () => {
      begun.push(name);
      return new Promise<void>((resolve) => end.set(name, resolve));
    });
  const finish = async (name: string) => {
    end.get(name)!();
    await new Promise(setImmediate);
  };
  return { run, finish, begun };
}

test('tasks begin in turn by owner, however many of them one has', async () => {
  const { run, finish, begun } = fairLimit();
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1'].map(run);
  assert.deepEqual(begun, ['a1', 'b1']);
  for (let ended = 0; ended < all.length; ended += 1) await finish(begun[ended]!);
  await Promise.all(all);
  assert.deepEqual(begun, ['a1', 'b1', 'a2', 'b2', 'c1', 'd1', 'a3']);
});

test('an owner has no more tasks at a time than its share, even if others have none', async () => {
  const { run, finish, begun } = fairLimit();
  const all = ['a1', 'a2'].map(run);
  assert.deepEqual(begun, ['a1']);
  all.push(run('b1'));
  assert.deepEqual(begun, ['a1', 'b1']);
  for (const name of ['a1', 'a2', 'b1']) await finish(name);
  await Promise.all(all);
});

test('a task behind too many others of its owner is refused, and tasks of others are not', async () => {
  const { run, finish, begun } = fairLimit();
  const all = ['a1', 'a2', 'a3', 'a4'].map(run);
  await assert.rejects(run('a5'), /own load/);
  all.push(run('b1'));
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) await finish(name);
  await Promise.all(all);
  assert.equal(begun.length, 5);
});

test('a task that has waited for too long is refused, with the reason, and leaves no trace', async () => {
  const { run, finish } = fairLimit({ ...LIMITS, max: 1, waitMs: 1 });
  const first = run('a1');
  await assert.rejects(run('a2'), /own load/);
  await assert.rejects(run('b1'), /^Error: load/);
  await finish('a1');
  await first;
  const last = run('b2');
  await finish('b2');
  await last;
});

test('a task that fails gives its place to the next one', async () => {
  const limit = new FairLimit({ ...LIMITS, max: 1 }, refusal);
  const failing = limit.run('a', () => Promise.reject(new Error('failed')));
  const next = limit.run('b', async () => 'done');
  await assert.rejects(failing, /failed/);
  assert.equal(await next, 'done');
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
