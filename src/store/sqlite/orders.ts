import { Batch, type BatchCommand, lookupsOf, type OrderEventDraft } from '../../domain/batch.ts';
import { eventsDigest, type Head, headAfter } from '../../domain/heads.ts';
import type { KnownOrder } from '../../domain/lifecycle.ts';
import { differingFields, type Order, type OrderId } from '../../domain/order.ts';
import { StoreUnavailable } from '../store.ts';
import { recordOperator } from '../tables/audit.ts';
import { rememberRequest } from '../tables/bulk-requests.ts';
import { findOthers } from '../tables/carry-out.ts';
import { HEADS_NOT_COMPUTED } from '../tables/heads.ts';
import { recordUses } from '../tables/hourly-uses.ts';
import { isLatestRun } from '../tables/imports.ts';
import { ORDER_COLUMNS, ORDER_WIDTH, orderFromRow } from '../tables/orders.ts';
import { recordPlacements } from '../tables/placements.ts';
import { type Commands, expectWritten, type Value } from '../tables/session.ts';
import { readFreeIds } from '../tables/store-row.ts';
import { jsonArray, type Session } from './database/session.ts';

/** Returns those of the orders that exist, with their revisions. */
function findKnown(session: Session, ids: readonly OrderId[]): KnownOrder[] {
  if (ids.length === 0) return [];
  const [sql, values] = ids.length === 1 ? [SQL.findOne, ids] : [SQL.find, [jsonArray(ids)]];
  return session.query(sql, values).map((row) => ({
    order: orderFromRow(row),
    revision: row[ORDER_WIDTH] as bigint,
  }));
}

/** Carries out commands inside a transaction. */
export async function changeOrders(session: Session, commands: readonly BatchCommand[]) {
  const { ids, ...others } = lookupsOf(commands);
  const orders = findKnown(session, ids);
  // Most batches need orders alone, and do not wait.
  const isMore = Object.values(others).some((names) => names.length > 0);
  const batch = new Batch(isMore ? { orders, ...(await findOthers(session, others)) } : { orders });
  const outcomesAt = batch.carryOutAll(commands);
  return outcomesAt(await writeBatch(session, batch));
}

/** Inside a transaction. */
export const importOrders: Commands<Session>['importOrders'] = async (session, command) => {
  const { source, orders, auditId } = command;
  if (!(await isLatestRun(session, command))) return { refusal: 'out_of_turn' };
  const ids = orders.flatMap(({ id }) => id ?? []);
  const freeIds = await readFreeIds(session);
  const batch = new Batch({ orders: findKnown(session, ids), freeIds });
  const outcome = batch.insertAll(orders);
  if (outcome.refusal !== undefined) return outcome;
  const revision = await writeBatch(session, batch);
  if (revision > 0n) await recordOperator(session, { first: revision, last: revision }, auditId);
  session.write(SQL.advance, [orders.length, source]);
  return outcome;
};

/**
 * Writes the changes of a batch, inside a transaction. Without changes nothing is written, so the list's ETag stays the same and no sync is needed.
 * @returns the revision of the changes, 0 without changes
 */
async function writeBatch(session: Session, batch: Batch): Promise<bigint> {
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
  // One statement for several ids takes half the time of one for each, but almost twice the time for a single id.
  findOne: `SELECT ${ORDER_COLUMNS}, revision FROM orders WHERE id = ?`,
  find: `SELECT ${ORDER_COLUMNS}, orders.revision FROM json_each(?) AS asked
    CROSS JOIN orders ON orders.id = asked.value`,
  advance: 'UPDATE imports SET placed = placed + ? WHERE source = ?',
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
