import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupCommit, NotConfirmed } from '../../src/store/group-commit.ts';

/** A store that records the batches it gets and commits them on demand. */
function controlledStore() {
  const batches: { commands: readonly number[]; commit: (error?: Error) => void }[] = [];
  const apply = (commands: readonly number[]) =>
    new Promise<number[]>((resolve, reject) => {
      const commit = (error?: Error) => (error ? reject(error) : resolve(commands.map((n) => -n)));
      batches.push({ commands, commit });
    });
  return { batches, apply };
}
/** Waits until the next batch, if any, has been handed to the store. */
async function turn(): Promise<void> {
  for (let count = 0; count < 5; count += 1) await new Promise(setImmediate);
}

test('commands submitted during a commit form the next batch, in order', async () => {
  const store = controlledStore();
  const queue = new GroupCommit(store.apply);
  const first = queue.submit(1);
  await turn();
  const rest = [2, 3, 4].map((command) => queue.submit(command));
  await turn();
  assert.deepEqual(
    store.batches.map(({ commands }) => commands),
    [[1]],
  );
  assert.equal(queue.pending, 4);
  store.batches[0]!.commit();
  assert.equal(await first, -1);
  await turn();
  assert.deepEqual(store.batches[1]!.commands, [2, 3, 4]);
  store.batches[1]!.commit();
  assert.deepEqual(await Promise.all(rest), [-2, -3, -4]);
  await turn();
  assert.equal(queue.pending, 0);
});

test('a command submitted right after a commit joins the commands waiting for the next batch', async (t) => {
  // Turns alone end the wait, however long they take on a busy machine.
  t.mock.method(performance, 'now', () => 0);
  const store = controlledStore();
  const queue = new GroupCommit(store.apply);
  const first = queue.submit(1);
  await turn();
  const waiting = queue.submit(2);
  store.batches[0]!.commit();
  await first;
  await new Promise(setImmediate);
  const back = queue.submit(3);
  await turn();
  assert.deepEqual(store.batches[1]!.commands, [2, 3]);
  store.batches[1]!.commit();
  assert.deepEqual(await Promise.all([waiting, back]), [-2, -3]);
});

test('after a single caller, commands of one turn share a batch, also if a commit takes no turn', async () => {
  const batches: number[][] = [];
  const queue = new GroupCommit(async (commands: readonly number[]) => {
    batches.push([...commands]);
    return commands;
  });
  await queue.submit(0);
  await turn();
  // Each request arrives in a callback of its own.
  for (let n = 1; n <= 8; n += 1) setImmediate(() => void queue.submit(n));
  await turn();
  assert.deepEqual(batches, [[0], [1], [2, 3, 4, 5, 6, 7, 8]]);
});

test('a failed batch rejects all its commands, and later batches are still applied', async () => {
  const store = controlledStore();
  const queue = new GroupCommit(store.apply);
  const both = [queue.submit(1), queue.submit(2)];
  await turn();
  store.batches[0]!.commit(new Error('disk full'));
  for (const one of both) await assert.rejects(one, /disk full/);
  const later = queue.submit(3);
  await turn();
  store.batches[1]!.commit();
  assert.equal(await later, -3);
});

test('2,000 commands are committed at a time; while 10,000 wait, further commands are rejected', async () => {
  const store = controlledStore();
  const queue = new GroupCommit(store.apply);
  const first = queue.submit(0);
  await turn();
  const waiting = Array.from({ length: 10_000 }, (_, index) => queue.submit(index));
  await assert.rejects(queue.submit(1), NotConfirmed);
  store.batches[0]!.commit();
  await first;
  for (let batch = 1; batch <= 5; batch += 1) {
    await turn();
    assert.equal(store.batches[batch]!.commands.length, 2_000);
    store.batches[batch]!.commit();
  }
  assert.deepEqual(
    await Promise.all(waiting),
    Array.from({ length: 10_000 }, (_, index) => -index),
  );
});

test('a command that is not confirmed in time is rejected, and never applied if it was still waiting', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const store = controlledStore();
  const queue = new GroupCommit(store.apply);
  const underWay = queue.submit(1);
  await turn();
  const waiting = queue.submit(2);
  t.mock.timers.tick(2_000);
  await assert.rejects(underWay, NotConfirmed);
  await assert.rejects(waiting, NotConfirmed);
  const later = queue.submit(3);
  store.batches[0]!.commit();
  await turn();
  assert.deepEqual(store.batches[1]!.commands, [3]);
  store.batches[1]!.commit();
  assert.equal(await later, -3);
});

test('a batch has commands of a limited total size', async () => {
  const store = controlledStore();
  const queue = new GroupCommit(
    store.apply,
    () => {},
    (size: number) => size,
  );
  const outcomes = [1_000, 900, 100, 1, 2_000].map((size) => queue.submit(size));
  for (const expected of [[1_000, 900, 100], [1], [2_000]]) {
    await turn();
    const batch = store.batches.at(-1)!;
    assert.deepEqual(batch.commands, expected);
    batch.commit();
  }
  assert.deepEqual(await Promise.all(outcomes), [-1_000, -900, -100, -1, -2_000]);
});
