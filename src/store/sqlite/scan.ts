import { setImmediate as nextTurn } from 'node:timers/promises';
import { INT64_MAX, INT64_MIN, type Order, type OrderId } from '../../orders/order.ts';
import type { ScanVisit } from '../store.ts';
import { ORDER_COLUMNS, orderFromRow } from '../tables/orders.ts';
import type { Row } from '../tables/session.ts';
import { type Location, openForReading } from './database/connection.ts';
import { Session } from './database/session.ts';

/** Orders per page; bounds memory, and how long the event loop is blocked (about a millisecond). */
export const PAGE = 512;

/** See Store.scan. Uses a connection of its own, since it lasts as long as the visitor takes. */
export async function scanOrders(
  location: Location,
  visit: ScanVisit,
  from: OrderId = INT64_MIN,
): Promise<void> {
  const session = new Session(openForReading(location));
  try {
    session.run('BEGIN');
    await visitPages(pagesById(session, 'true', from), visit);
  } finally {
    session.close();
  }
}

/** Visits orders page by page, yielding to the event loop between pages. */
export async function visitPages(
  pages: Iterable<readonly Row[]>,
  visit: (orders: readonly Order[]) => unknown,
): Promise<void> {
  for (const rows of pages) {
    if ((await visit(rows.map(orderFromRow))) === false) return;
    // A page that is not full is the last.
    if (rows.length === PAGE) await nextTurn();
  }
}

/** Reads the orders that meet a condition in pages of ascending id. Takes two thirds of the time of reading row by row. */
export function* pagesById(
  session: Session,
  condition: string,
  lowest: OrderId = INT64_MIN,
): Iterable<readonly Row[]> {
  const sql = `SELECT ${ORDER_COLUMNS} FROM orders WHERE id >= ? AND ${condition} ORDER BY id LIMIT ${PAGE}`;
  let from = lowest;
  for (;;) {
    const rows = session.query(sql, [from]);
    const last = rows.at(-1)?.[0];
    if (last !== undefined) yield rows;
    if (rows.length < PAGE || last === INT64_MAX) return;
    from = (last as bigint) + 1n;
  }
}
