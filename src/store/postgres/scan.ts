import { setImmediate as nextTurn } from 'node:timers/promises';
import { BEGINNING, type Position } from '../../../protocol/history.ts';
import { byId, type Order } from '../../domain/order.ts';
import { isPast } from '../feed.ts';
import type { History } from '../history.ts';
import type { Store } from '../store.ts';
import { headFromColumn } from '../tables/feed.ts';
import { ORDER_COLUMNS, orderBeforeFromRow, orderFromRow } from '../tables/orders.ts';
import type { Row, StoreReads } from '../tables/session.ts';
import { requireStoreRow } from '../tables/store-row.ts';
import { newSession } from './database/connection.ts';
import { batchesOf } from './database/cursor.ts';
import { BEGIN_SNAPSHOT, type Session } from './database/session.ts';
import { BULK } from './database/session-settings.ts';
import { POSITION_COLUMNS, positionFromRow } from './feed.ts';

/** Orders per batch; bounds memory and how long the event loop is blocked. */
const BATCH = 2_000;
const FOUND = { cursor: 'found', size: BATCH };

/** Uses a session of its own, since the visitor decides how long it lasts. */
export const scanOrders: StoreReads<History, string>['scan'] = async (url, visit, at) => {
  using session = await newSession(url, BULK);
  await session.run(BEGIN_SNAPSHOT);
  if (at === undefined) await visitBatches(batchesOf(session, FOUND, ALL), visit);
  else await visitBatches(batchesOf(session, FOUND, AT_REVISION, [at]), visit, orderBeforeFromRow);
};

const ALL = `SELECT ${ORDER_COLUMNS} FROM orders ORDER BY id`;

/** Orders as they were at a revision. Those that have changed since get the values that their latest event has overwritten. */
const AT_REVISION = `SELECT ${ORDER_COLUMNS}, later.type, later.ship_date_before, later.complete_before
    FROM orders LEFT JOIN order_events AS later ON orders.revision > $1 AND later.revision = orders.revision
      AND later.order_id = orders.id AND later.type <> 'placed'
    WHERE orders.revision <= $1
      OR EXISTS (SELECT FROM order_events AS placed WHERE placed.order_id = orders.id AND placed.revision <= $1)
    ORDER BY id`;

/** Visits orders batch by batch; yields to the event loop after each. */
async function visitBatches(
  batches: AsyncIterable<readonly Row[]>,
  visit: (orders: readonly Order[]) => unknown,
  fromRow: (row: Row) => Order = orderFromRow,
): Promise<void> {
  for await (const rows of batches) {
    // Not by reference: map passes further arguments.
    if ((await visit(rows.map((row) => fromRow(row)))) === false) return;
    await nextTurn();
  }
}

type Read = StoreReads<Store, Session>['changedOrders'];

/** Needs a session of its own for each call, since its snapshot can span many statements. */
export const readChangedOrders: Read = async (session, since, visit) => {
  if (since === undefined) {
    return readInOneSnapshot(session, BEGINNING, batchesOf(session, FOUND, LISTED), visit);
  }
  // One round trip: in most cases there are no changes, or few.
  const rows = await session.query(CHANGES, [since.revision]);
  const position = positionNow(since, rows[0]);
  if (position === undefined || position.revision === since.revision) return position && since;
  const visitSorted = (orders: readonly Order[]) => visit(orders.toSorted(byId));
  if (rows.length > BATCH) {
    const batches = batchesOf(session, FOUND, CHANGED, [since.revision]);
    return readInOneSnapshot(session, since, batches, visitSorted);
  }
  const orders = rows.filter(([id]) => id !== null).map(orderFromRow);
  if (orders.length > 0) visitSorted(orders);
  return position;
};

/** Visits the orders of `batches`, which are read in the snapshot. */
async function readInOneSnapshot(
  session: Session,
  since: Position,
  batches: AsyncIterable<readonly Row[]>,
  visit: Parameters<Read>[2],
): Promise<Position | undefined> {
  try {
    const [, [row]] = await Promise.all([
      session.run(BEGIN_SNAPSHOT),
      session.query(NOW, [since.revision]),
    ]);
    const position = positionNow(since, row);
    if (position !== undefined) await visitBatches(batches, visit);
    await session.run('COMMIT');
    return position;
  } catch (error) {
    session.destroy();
    throw error;
  }
}

/**
 * Returns the position of a row that ends in NOW_COLUMNS; undefined if `since` is not in its past.
 * @throws StoreUnavailable if the store was moved to another database
 */
function positionNow(since: Position, row: Row | undefined): Position | undefined {
  const [head, ...columns] = requireStoreRow(row).slice(-5);
  const position = positionFromRow(columns);
  return isPast(since, position, headFromColumn(head)) ? position : undefined;
}

/** The head of revision $1, if it is not the current one, and the columns of `positionFromRow`. */
const NOW_COLUMNS = `(SELECT head FROM order_events AS event
    WHERE store.revision > $1 AND event.revision = $1 AND event.head IS NOT NULL
    ORDER BY order_id DESC, type = 'placed' LIMIT 1), ${POSITION_COLUMNS}`;

const NOW = `SELECT ${NOW_COLUMNS} FROM store`;

/** The limit makes the planner use the index, whatever number of changes it estimates. */
const CHANGES = `SELECT changed.*, ${NOW_COLUMNS}
    FROM store LEFT JOIN LATERAL (SELECT ${ORDER_COLUMNS} FROM orders
      WHERE orders.revision > $1 ORDER BY orders.revision LIMIT ${BATCH + 1}) AS changed ON true`;

const LISTED = `SELECT ${ORDER_COLUMNS} FROM orders WHERE status <> 'cancelled' ORDER BY id`;

const CHANGED = `SELECT ${ORDER_COLUMNS} FROM orders WHERE revision > $1 ORDER BY revision`;
