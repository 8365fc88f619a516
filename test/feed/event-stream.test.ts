import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrderChange } from '../../src/domain/change.ts';
import { eventsOf } from '../../src/feed/streams/event-stream.ts';
import { type ChangePage, positionAfter } from '../../src/store/feed.ts';

const placed = (id: bigint, revision: bigint): OrderChange => ({
  ...{ type: 'placed', by: undefined },
  order: { id, status: 'pending', placedAt: 0, updatedAt: 0, revision },
  head: 'f'.repeat(64),
});

test('the events since a revision are those of later revisions, each of them whole', async () => {
  const changes = [placed(1n, 3n), placed(2n, 3n), placed(3n, 5n), placed(4n, 6n), placed(5n, 6n)];
  const position = positionAfter(changes.at(-1)!);
  const page: ChangePage = { changes, position, isMore: false, now: position };
  const since = await eventsOf(page);
  const ids = (revision: bigint) =>
    [
      ...since(revision)
        .toString()
        .matchAll(/"order":\{"id":(\d+)/g),
    ].map(([, id]) => Number(id));
  for (const [revision, expected] of [
    [2n, [1, 2, 3, 4, 5]],
    [3n, [3, 4, 5]],
    [4n, [3, 4, 5]],
    [5n, [4, 5]],
    [6n, []],
  ] as const) {
    assert.deepEqual(ids(revision), expected, `since ${revision}`);
  }
});

test('with a filter, only matching events are sent, and the id moves on where nothing matches', async () => {
  const changes = [placed(1n, 3n), placed(2n, 3n), placed(3n, 5n), placed(4n, 6n)].map(
    (change): OrderChange => ({
      ...change,
      order: { ...change.order, petId: change.order.id % 2n },
    }),
  );
  const position = positionAfter(changes.at(-1)!);
  const since = await eventsOf({ changes, position, isMore: false, now: position });
  const lines = (revision: bigint, petId: bigint) =>
    since(revision, { petIds: [petId] })
      .toString()
      .split('\n')
      .flatMap((line) => /^id: \d+|"id":\d+/.exec(line)?.[0] ?? []);
  assert.deepEqual(lines(0n, 1n), ['id: 3', '"id":1', 'id: 5', '"id":3', 'id: 6']);
  assert.deepEqual(lines(0n, 0n), ['id: 3', '"id":2', 'id: 6', '"id":4']);
  assert.deepEqual(lines(3n, 7n), ['id: 6']);
  assert.deepEqual(lines(6n, 0n), []);
});
