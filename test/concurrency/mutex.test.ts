import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Mutex } from '../../src/concurrency/mutex.ts';

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
