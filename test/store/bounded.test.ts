import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bounded } from '../../src/store/bounded.ts';
import { StoreUnavailable } from '../../src/store/store.ts';

test('work beyond the bound is refused at once, until some of the work is done', async () => {
  const bounded = new Bounded(2);
  const end: (() => void)[] = [];
  const work = () => bounded.run(() => new Promise<void>((resolve) => end.push(resolve)));
  const first = work();
  const second = work();
  await assert.rejects(work(), StoreUnavailable);
  end.shift()!();
  await first;
  const third = work();
  await assert.rejects(work(), StoreUnavailable);
  for (const each of end) each();
  await Promise.all([second, third]);
});

test('work that fails makes room, too', async () => {
  const bounded = new Bounded(1);
  await assert.rejects(
    bounded.run(() => Promise.reject(new Error('failed'))),
    /failed/,
  );
  assert.equal(await bounded.run(async () => 'done'), 'done');
});
