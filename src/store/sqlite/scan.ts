import { setImmediate as nextTurn } from 'node:timers/promises';
import { isSamePosition } from '../../../protocol/history.ts';
import { byId, INT64_MAX, INT64_MIN, type Order, type OrderId } from '../../domain/order.ts';
import type { History } from '../history.ts';
import type { Store } from '../store.ts';
import { ORDER_COLUMNS, ORDER_WIDTH, orderBeforeFromRow, orderFromRow } from '../tables/orders.ts';
import type { Row, StoreReads } from '../tables/session.ts';
import type { Session } from './database/session.ts';
import { ofSnapshot } from './database/transaction.ts';
import { isInPast, readPosition } from './feed.ts';
import type { Reading } from './turns.ts';

/** Orders per page; bounds memory, and how long the event loop is blocked (about a millisecond). */
const PAGE = 512;
/** Longest time that a scan takes of a turn of the event loop, unless one page takes longer. */
const MAX_SHARE_MS = 20;

/** Uses a connection of its own, since the visitor decides how long it lasts. */
export const scanOrders: StoreReads<History, Reading>['scan'] = ({ openSession }, visit, at) =>
  ofSnapshot(openSession, (session) => {
    if (at === undefined) return visitPages(pagesById(session, 'true'), visit);
    const pages = pagesOf((lowest) => session.query(AT_REVISION, [lowest, at]));
    return visitPages(pages, visit, orderBeforeFromRow);
  });

/**
 * Visits orders page by page. Yields to the event loop after each page, or on a busy event loop after as many pages as take the time that its
 * other work took, up to MAX_SHARE_MS: with a page a turn, 60,000 orders took seconds beside 128 connections.
 */
async function visitPages(
  pages: Iterable<readonly Row[]>,
  visit: (orders: readonly Order[]) => unknown,
  fromRow: (row: Row) => Order = orderFromRow,
): Promise<void> {
  let begun = performance.now();
  let share = 0;
  for (const rows of pages) {
    // Not by reference: map passes further arguments.
    if ((await visit(rows.map((row) => fromRow(row)))) === false) return;
    const ended = performance.now();
    // A page that is not full is the last.
    if (rows.length < PAGE || ended - begun < share) continue;
    await nextTurn();
    begun = performance.now();
    share = Math.min(begun - ended, MAX_SHARE_MS);
  }
}

/** Reads the orders that meet a condition in pages of ascending id. Takes two thirds of the time of reading row by row. */
function pagesById(session: Session, condition: string): Iterable<readonly Row[]> {
  const sql = `SELECT ${ORDER_COLUMNS} FROM orders WHERE id >= ? AND ${condition} ORDER BY id LIMIT ${PAGE}`;
  return pagesOf((lowest) => session.query(sql, [lowest]));
}

function* pagesOf(read: (lowest: OrderId) => readonly Row[]): Iterable<readonly Row[]> {
  for (let lowest = INT64_MIN; ; ) {
    const rows = read(lowest);
    const last = rows.at(-1)?.[0];
    if (last !== undefined) yield rows;
    if (rows.length < PAGE || last === INT64_MAX) return;
    lowest = (last as bigint) + 1n;
  }
}

/** Orders as they were at a revision. Those that have changed since get the values that their latest event has overwritten. */
const AT_REVISION = `SELECT ${ORDER_COLUMNS}, later.type, later.ship_date_before, later.complete_before
  FROM orders LEFT JOIN order_events AS later ON orders.revision > ?2 AND later.revision = orders.revision
    AND later.order_id = orders.id AND later.type <> 'placed'
  WHERE id >= ?1 AND (orders.revision <= ?2 OR later.previous BETWEEN 1 AND ?2) ORDER BY id LIMIT ${PAGE}`;

/** @param session a connection of its own, since a snapshot can span many turns of the event loop */
export const readChangedOrders: StoreReads<Store, Session>['changedOrders'] = async (
  session,
  since,
  visit,
) => {
  if (since !== undefined && isSamePosition(since, readPosition(session))) return since;
  session.run('BEGIN');
  try {
    const position = readPosition(session);
    if (since === undefined) await visitPages(pagesById(session, "status <> 'cancelled'"), visit);
    else {
      if (!isInPast(session, since, position)) return undefined;
      const pages = pagesByRevision(session, since.revision);
      await visitPages(pages, (orders) => visit(orders.toSorted(byId)));
    }
    return position;
  } finally {
    session.run('COMMIT');
  }
};

/** Reads the orders changed after a revision, in the order of their latest events. */
function* pagesByRevision(session: Session, since: bigint): Iterable<readonly Row[]> {
  let after = [since, INT64_MAX];
  for (;;) {
    const rows = session.query(CHANGED, after);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    const last = rows.at(-1)!;
    after = [last[ORDER_WIDTH] as bigint, last[0] as bigint];
  }
}

/**
 * Ordered by event, each order at its latest event: ordered by id, SQLite would read all orders, or block for a long
 * sort. GROUP BY, since an order placed and cancelled in one revision has two events in it.
 */
const CHANGED = `SELECT ${ORDER_COLUMNS}, orders.revision FROM order_events AS event
  CROSS JOIN orders ON orders.id = event.order_id AND orders.revision = event.revision
  WHERE (event.revision, event.order_id) > (?, ?) GROUP BY event.revision, event.order_id
  ORDER BY event.revision, event.order_id LIMIT ${PAGE}`;
