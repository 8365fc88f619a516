import type { Batch } from '../../orders/batch.ts';
import { differingFields, type Order } from '../../orders/order.ts';
import { PLACEMENT_KEPT_MS } from '../../orders/placement.ts';
import { recordCancelUses } from '../tables/cancel-uses.ts';
import type { Value } from '../tables/session.ts';
import { jsonArray, type Session } from './database/session.ts';

/**
 * Writes the changes of a batch, inside a transaction. Without changes nothing is written, so the list's ETag stays
 * the same and no sync is needed.
 * @returns the revision of the changes, 0 without changes
 */
export async function writeBatch(session: Session, batch: Batch): Promise<bigint> {
  const { known, changed, statusDeltas } = batch;
  if (changed.size === 0) return 0n;
  const { pending, shipped, cancelled } = statusDeltas;
  const [store] = session.query(SQL.setRevision, [pending, shipped, cancelled]);
  const revision = store![0] as bigint;
  // Events are inserted before their orders are updated, since `previous` is read from the orders.
  insertEvents(session, batch, revision);
  const restated: Order[] = [];
  for (const order of changed.values()) {
    const before = known.get(order.id)?.order;
    if (before === undefined) session.write(SQL.insert, valuesOf(order, revision));
    else if (isRestated(before, order)) restated.push(order);
    else session.write(SQL.update, valuesOf(order, revision));
  }
  for (const [status, alike] of Map.groupBy(restated, (order) => order.status)) {
    session.write(SQL.setStatus, [status, revision, jsonArray(alike.map(({ id }) => id))]);
  }
  recordPlacements(session, batch, revision);
  await recordCancelUses(session, batch);
  return revision;
}

/** Inserts events that differ only in their orders with one statement; shipments have values of their own. */
function insertEvents(session: Session, { events, now }: Batch, revision: bigint): void {
  const shipped = events.filter(({ before }) => before !== undefined);
  for (const { id, type, by, before } of shipped) {
    const { shipDate, complete } = before!;
    session.write(SQL.insertShipped, [revision, type, now, by, shipDate, complete, id]);
  }
  const others = events.filter(({ before }) => before === undefined);
  for (const alike of Map.groupBy(others, ({ type, by }) => `${type} ${by}`).values()) {
    const { type, by } = alike[0]!;
    session.write(SQL.insertEvents, [
      revision,
      type,
      now,
      by,
      jsonArray(alike.map(({ id }) => id)),
    ]);
  }
}

/** Records the placements of a batch, and deletes up to twice as many that have expired. */
function recordPlacements(session: Session, { placements, now }: Batch, revision: bigint): void {
  if (placements.length === 0) return;
  session.write(SQL.deleteExpired, [now - PLACEMENT_KEPT_MS, 2 * placements.length]);
  for (const { by, idempotencyKey, digest, id, at } of placements) {
    session.write(SQL.insertPlacement, [by, idempotencyKey, digest, id, revision, at]);
  }
}

/** Returns whether only the status has changed. */
function isRestated(before: Order, after: Order): boolean {
  return differingFields(before, after).every((field) => field === 'status');
}

/** Returns the parameters of `insert` and `update`, in order. */
function valuesOf(order: Order, revision: bigint): Value[] {
  const { id, status, petId, quantity, shipDate, complete } = order;
  return [status, petId, quantity, shipDate, complete, revision, id];
}

const SQL = {
  setRevision: `UPDATE store SET revision = revision + 1, mark = random(), pending = pending + ?,
    shipped = shipped + ?, cancelled = cancelled + ? RETURNING revision`,
  insert: `INSERT INTO orders (status, pet_id, quantity, ship_date, complete, revision, id)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  update: `UPDATE orders SET status = ?, pet_id = ?, quantity = ?, ship_date = ?, complete = ?, revision = ?
    WHERE id = ?`,
  setStatus: `UPDATE orders SET status = ?, revision = ? WHERE id IN (SELECT value FROM json_each(?))`,
  deleteExpired: `DELETE FROM placements WHERE (key_id, idempotency_key) IN
    (SELECT key_id, idempotency_key FROM placements WHERE at < ? ORDER BY at LIMIT ?)`,
  insertPlacement: `INSERT INTO placements (key_id, idempotency_key, digest, order_id, revision, at)
    VALUES (?, ?, ?, ?, ?, ?)`,
  insertEvents: `INSERT INTO order_events (revision, type, at, by, order_id, previous)
    SELECT ?, ?, ?, ?, event.value, coalesce((SELECT revision FROM orders WHERE id = event.value), 0)
    FROM json_each(?) AS event`,
  insertShipped: `INSERT INTO order_events
      (revision, type, at, by, ship_date_before, complete_before, order_id, previous)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce((SELECT revision FROM orders WHERE id = ?7), 0))`,
} as const;
