import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Change } from '../../protocol/generated/records.ts';
import { BEGINNING } from '../../protocol/history.ts';
import { Batch, type BatchCommand } from '../../src/domain/batch.ts';
import { changeOf } from '../../src/domain/change.ts';
import {
  type ChainedEvent,
  eventsDigest,
  headAfter,
  headFrom,
  lineOf,
} from '../../src/domain/heads.ts';
import { byId, type Order } from '../../src/domain/order.ts';
import { parseTimestamp } from '../../src/domain/timestamp.ts';
import { anyOrder, reference } from './arbitraries.ts';
import { VECTORS } from './head-vectors.ts';

/** Reads a Change record of v2. */
function eventOf({ type, at, by, order }: Change): ChainedEvent {
  const { shipDate, ...fields } = order;
  const date = shipDate === undefined ? undefined : parseTimestamp(shipDate)!;
  const after = { ...fields, shipDate: date } as unknown as Order;
  return { type: type as ChainedEvent['type'], at: parseTimestamp(at)!, by, order: after };
}

test('lines and heads are those of the golden vectors', () => {
  let head = headFrom(BEGINNING.head);
  for (const revision of VECTORS.revisions) {
    const events = revision.changes.map(eventOf);
    assert.deepEqual(
      events.map((event) => lineOf(event)),
      revision.lines,
    );
    head = headAfter(head, eventsDigest(events));
    assert.equal(Buffer.from(head).toString('hex'), revision.head);
  }
  assert.equal(VECTORS.revisions.length, 8);
});

/** Orders with few ids, so that commands meet the same ones. */
const order = fc
  .tuple(anyOrder, fc.bigInt({ min: 1n, max: 6n }))
  .map(([any, id]): Order => ({ ...any, id }));
const by = fc.constantFrom(undefined, 'key_a', 'key_b');
const id = fc.bigInt({ min: 1n, max: 7n });
const detail = fc.option(reference, { nil: undefined });
const command: fc.Arbitrary<BatchCommand> = fc.oneof(
  fc.record({ type: fc.constant('insertOrder' as const), order }),
  fc.record({ type: fc.constant('cancel' as const), id, by, reason: detail }),
  fc.record({ type: fc.constant('ship' as const), id, by, at: fc.nat(), trackingNumber: detail }),
);

test('the digest of a batch is that of its changes as the feed returns them', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(order, { selector: (each) => each.id }),
      fc.array(command, { maxLength: 30 }),
      (orders, commands) => {
        const batch = new Batch({ orders: orders.map((each) => ({ order: each, revision: 1n })) });
        batch.carryOutAll(commands);
        assert.deepEqual(eventsDigest(batch.eventsInOrder()), eventsDigest(feedOf(batch)));
      },
    ),
  );
});

/** The changes of a batch as engines read them: from the orders as they are now, and the later event of each. */
function feedOf(batch: Batch): ChainedEvent[] {
  const changes = batch.events.map((event, index) => {
    const next = batch.events.slice(index + 1).find((each) => each.id === event.id);
    const { shipDate: shipDateBefore, complete: completeBefore } = next?.before ?? {};
    const later = next && { type: next.type, shipDateBefore, completeBefore };
    const { type, by: author } = event;
    return changeOf(
      batch.changed.get(event.id)!,
      { type, by: author, revision: 2n, at: batch.now },
      { later, placedAt: 0 },
    );
  });
  const placedFirst = ({ type }: { type: string }) => (type === 'placed' ? 0 : 1);
  changes.sort(
    (a, b) =>
      (a.order.id === b.order.id ? 0 : byId(a.order, b.order)) || placedFirst(a) - placedFirst(b),
  );
  return changes.map(({ type, by: author, order: after }) => ({
    ...{ type, by: author, order: after },
    at: after.updatedAt,
  }));
}
