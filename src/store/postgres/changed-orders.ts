import { BEGINNING, type Position } from '../../../protocol/history.ts';
import { byId, type Order } from '../../domain/order.ts';
import { isPast } from '../feed.ts';
import type { Store } from '../store.ts';
import { headFromColumn } from '../tables/feed.ts';
import { ORDER_COLUMNS, orderFromRow } from '../tables/orders.ts';
import type { Row, StoreReads } from '../tables/session.ts';
import { requireStoreRow } from '../tables/store-row.ts';
import { batchesOf } from './database/cursor.ts';
import { BEGIN_SNAPSHOT, type Session } from './database/session.ts';
import { POSITION_COLUMNS, positionFromRow } from './feed.ts';
import { BATCH, visitBatches } from './scan.ts';

type Read = StoreReads<Store, Session>['changedOrders'];

/** Needs a session of its own for each call, since its snapshot can span many statements. */
export const readChangedOrders: Read = async (session, since, visit) => {
  const options = { cursor: 'found', size: BATCH };
  if (since === undefined) {
    return readInOneSnapshot(session, BEGINNING, batchesOf(session, options, LISTED), visit);
  }
  // One round trip: in most cases there are no changes, or few.
  const rows = await session.query(CHANGES, [since.revision]);
  const position = positionNow(since, rows[0]);
  if (position === undefined || position.revision === since.revision) return position && since;
  const visitSorted = (orders: readonly Order[]) => visit(orders.toSorted(byId));
  if (rows.length > BATCH) {
    const batches = batchesOf(session, options, CHANGED, [since.revision]);
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
