import { BEGINNING, type Position } from '../../../protocol/history.ts';
import { Mutex } from '../../concurrency.ts';
import { byId, type Order } from '../../domain/order.ts';
import { isPast } from '../feed.ts';
import { headFromColumn } from '../tables/feed.ts';
import { ORDER_COLUMNS, orderFromRow } from '../tables/orders.ts';
import type { Row } from '../tables/session.ts';
import { requireStoreRow } from '../tables/store-row.ts';
import type { Connection } from './database/connection.ts';
import { BEGIN_SNAPSHOT, type Session } from './database/session.ts';
import { POSITION_COLUMNS, positionFromRow } from './feed.ts';
import { BATCH, FETCH, visitFetched } from './scan.ts';

type Visit = (orders: readonly Order[]) => void;

/** See Store.changedOrders. Has a connection of its own, since its snapshot can span many statements. */
export class ChangedOrders {
  readonly #connection: Connection;
  readonly #mutex = new Mutex();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Calls are serialized, since a connection has one snapshot at a time. */
  read(since: Position | undefined, visit: Visit): Promise<Position | undefined> {
    return this.#mutex.run(async () => {
      const session = await this.#connection.session();
      return since === undefined
        ? readInOneSnapshot(session, undefined, visit)
        : readFewChanges(session, since, visit);
    });
  }
}

/** Reads changes in one round trip: in most cases there are none or few. */
async function readFewChanges(
  session: Session,
  since: Position,
  visit: Visit,
): Promise<Position | undefined> {
  const rows = await session.query(CHANGES, [since.revision]);
  const position = positionNow(since, rows[0]);
  if (position === undefined || position.revision === since.revision) return position && since;
  if (rows.length > BATCH) return readInOneSnapshot(session, since, visit);
  const orders = rows.filter(([id]) => id !== null).map(orderFromRow);
  if (orders.length > 0) visit(orders.sort(byId));
  return position;
}

/** Visits all orders, or those changed since a position, batch by batch. */
async function readInOneSnapshot(
  session: Session,
  since: Position | undefined,
  visit: Visit,
): Promise<Position | undefined> {
  const from = since ?? BEGINNING;
  try {
    const begun = Promise.all([
      session.run(BEGIN_SNAPSHOT),
      session.query(NOW, [from.revision]),
      since === undefined
        ? session.query(DECLARE_ALL)
        : session.query(DECLARE_CHANGED, [since.revision]),
      session.query(FETCH),
    ]);
    const [, [row], , first] = await begun;
    const position = positionNow(from, row);
    if (position !== undefined) {
      await visitFetched(session, first, (orders) => {
        visit(since === undefined ? orders : [...orders].sort(byId));
      });
    }
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

const DECLARE_ALL = `DECLARE found NO SCROLL CURSOR FOR
    SELECT ${ORDER_COLUMNS} FROM orders WHERE status <> 'cancelled' ORDER BY id`;

const DECLARE_CHANGED = `DECLARE found NO SCROLL CURSOR FOR
    SELECT ${ORDER_COLUMNS} FROM orders WHERE revision > $1 ORDER BY revision`;
