import type { Batch, OrderEventDraft } from '../../domain/batch.ts';
import { eventsDigest, type Head, headAfter } from '../../domain/heads.ts';
import { differingFields, type Order } from '../../domain/order.ts';
import { StoreUnavailable } from '../store.ts';
import { rememberRequest } from '../tables/bulk-requests.ts';
import { HEADS_NOT_COMPUTED } from '../tables/heads.ts';
import { recordUses } from '../tables/hourly-uses.ts';
import { recordPlacements } from '../tables/placements.ts';
import { expectWritten, type Value } from '../tables/session.ts';
import { jsonArray, type Session } from './database/session.ts';

/**
 * Writes the changes of a batch, inside a transaction. Without changes nothing is written, so the list's ETag stays the same and no sync is needed.
 * @returns the revision of the changes, 0 without changes
 */
export async function writeBatch(session: Session, batch: Batch): Promise<bigint> {
  const { known, changed, statusDeltas, found, placements, bulkRequests } = batch;
  // Most batches have none of these records, and do not wait.
  if (found.length > 0) await recordPlacements(session, found, batch.now);
  if (changed.size === 0) return 0n;
  const { pending, shipped, cancelled } = statusDeltas;
  const events = batch.eventsInOrder();
  const before = session.query(SQL.head)[0]![0] as Head | null;
  if (before === null) throw new StoreUnavailable(HEADS_NOT_COMPUTED, 'schema');
  const head = headAfter(before, eventsDigest(events));
  const values = [pending, shipped, cancelled, head];
  const revision = session.query(SQL.setRevision, values)[0]![0] as bigint;
  // Events are inserted before their orders are updated, since `previous` is read from the orders.
  insertEvents(session, batch.now, events, revision, head);
  const restated: Order[] = [];
  let written = 0;
  for (const order of changed.values()) {
    const before = known.get(order.id)?.order;
    if (before === undefined) {
      const key = batch.referenceKeys.get(order.id);
      written += session.write(SQL.insert, [...valuesOf(order, revision), order.reference, key]);
    } else if (isRestated(before, order)) restated.push(order);
    else written += session.write(SQL.update, valuesOf(order, revision));
  }
  for (const [status, alike] of Map.groupBy(restated, (order) => order.status)) {
    const ids = alike.map(({ id }) => id);
    written +=
      ids.length === 1
        ? session.write(SQL.setStatusOfOne, [status, revision, ids[0]])
        : session.write(SQL.setStatus, [status, revision, jsonArray(ids)]);
  }
  expectWritten(written, changed.size);
  if (placements.length > 0) {
    const placed = placements.map((each) => ({ ...each, revision }));
    await recordPlacements(session, placed, batch.now);
  }
  if (batch.taken().length > 0) await recordUses(session, batch);
  for (const each of bulkRequests) await rememberRequest(session, each);
  return revision;
}

/** Inserts events that differ only in their orders with one statement; shipments have values of their own. The last event gets the head. */
function insertEvents(
  session: Session,
  now: number,
  events: readonly OrderEventDraft[],
  revision: bigint,
  head: Head,
): void {
  const last = events.at(-1)!;
  let written = 0;
  const insertOne = (event: OrderEventDraft) => {
    const { id, type, by, before } = event;
    const own = [before?.shipDate, before?.complete, id, event === last ? head : undefined];
    written += session.write(SQL.insertEvent, [revision, type, now, by, ...own]);
  };
  const shipments = events.filter(({ before }) => before !== undefined);
  for (const event of shipments) insertOne(event);
  const others = events.filter(({ before }) => before === undefined);
  for (const alike of Map.groupBy(others, ({ type, by }) => `${type} ${by}`).values()) {
    const [first, second] = alike;
    if (second === undefined) {
      insertOne(first!);
      continue;
    }
    const { type, by } = first!;
    const ids = jsonArray(alike.map(({ id }) => id));
    const headed = alike.at(-1) === last ? [last.id, head] : [undefined, undefined];
    written += session.write(SQL.insertEvents, [revision, type, now, by, ids, ...headed]);
  }
  expectWritten(written, events.length);
}

/** Returns whether only the status has changed. */
function isRestated(before: Order, after: Order): boolean {
  return differingFields(before, after).every((field) => field === 'status');
}

/** Returns the parameters of `update`, which are the first ones of `insert`. */
function valuesOf(order: Order, revision: bigint): Value[] {
  const { id, status, petId, quantity, shipDate, complete, reason, trackingNumber } = order;
  return [status, petId, quantity, shipDate, complete, reason, trackingNumber, revision, id];
}

const SQL = {
  head: 'SELECT head FROM store',
  setRevision: `UPDATE store SET revision = revision + 1, pending = pending + ?,
    shipped = shipped + ?, cancelled = cancelled + ?, head = ? RETURNING revision`,
  insert: `INSERT INTO orders
      (status, pet_id, quantity, ship_date, complete, reason, tracking_number, revision, id, reference, reference_key)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  update: `UPDATE orders SET status = ?, pet_id = ?, quantity = ?, ship_date = ?, complete = ?, reason = ?, tracking_number = ?,
      revision = ? WHERE id = ?`,
  // For a single order, or a single event, a statement of its own takes half the time.
  // The order has no details: those that were added to its row by hand are not in its history.
  setStatusOfOne: `UPDATE orders SET status = ?, reason = NULL, tracking_number = NULL, revision = ? WHERE id = ?`,
  setStatus: `UPDATE orders SET status = ?, reason = NULL, tracking_number = NULL, revision = ?
    WHERE id IN (SELECT value FROM json_each(?))`,
  insertEvents: `INSERT INTO order_events (revision, type, at, by, order_id, previous, head)
    SELECT ?1, ?2, ?3, ?4, event.value, coalesce((SELECT revision FROM orders WHERE id = event.value), 0),
      iif(event.value = ?6, ?7, NULL)
    FROM json_each(?5) AS event`,
  insertEvent: `INSERT INTO order_events
      (revision, type, at, by, ship_date_before, complete_before, order_id, previous, head)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce((SELECT revision FROM orders WHERE id = ?7), 0), ?8)`,
} as const;
