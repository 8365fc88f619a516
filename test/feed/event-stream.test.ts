import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrderChange } from '../../src/domain/change.ts';
import { eventsOf } from '../../src/feed/streams/event-stream.ts';
import { positionAfter } from '../../src/store/feed.ts';

const placed = (id: bigint, revision: bigint): OrderChange => ({
  ...{ type: 'placed', by: undefined },
  order: { id, status: 'pending', placedAt: 0, updatedAt: 0, revision },
  head: 'f'.repeat(64),
});

test('the events of a page are its changes, in order; only the last one of a revision has an id', async () => {
  const changes = [placed(1n, 3n), placed(2n, 3n), placed(3n, 5n), placed(4n, 6n), placed(5n, 6n)];
  const position = positionAfter(changes.at(-1)!);
  const events = (await eventsOf({ changes, position, isMore: false, now: position }))();
  const lines = events.toString().split('\n');
  assert.deepEqual(
    lines.flatMap((line) => /^id: \d+|"id":\d+/.exec(line)?.[0] ?? []),
    ['"id":1', 'id: 3', '"id":2', 'id: 5', '"id":3', '"id":4', 'id: 6', '"id":5'],
  );
});

test('a page without changes has no events', async () => {
  const position = positionAfter(placed(1n, 3n));
  const eventsFor = await eventsOf({ changes: [], position, isMore: false, now: position });
  assert.equal(eventsFor().length, 0);
  assert.equal(eventsFor({ types: ['placed'] }).length, 0);
});

test('with a filter, only matching events are sent, and the id moves on where nothing matches', async () => {
  const changes = [placed(1n, 3n), placed(2n, 3n), placed(3n, 5n), placed(4n, 6n)].map(
    (change): OrderChange => ({
      ...change,
      order: { ...change.order, petId: change.order.id % 2n },
    }),
  );
  const position = positionAfter(changes.at(-1)!);
  const eventsFor = await eventsOf({ changes, position, isMore: false, now: position });
  const lines = (petId: bigint) =>
    eventsFor({ petIds: [petId] })
      .toString()
      .split('\n')
      .flatMap((line) => /^id: \d+|"id":\d+/.exec(line)?.[0] ?? []);
  assert.deepEqual(lines(1n), ['id: 3', '"id":1', 'id: 5', '"id":3', 'id: 6']);
  assert.deepEqual(lines(0n), ['id: 3', '"id":2', 'id: 6', '"id":4']);
  assert.deepEqual(lines(7n), ['id: 6']);
});
