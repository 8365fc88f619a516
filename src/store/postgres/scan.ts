import { setImmediate as nextTurn } from 'node:timers/promises';
import { INT64_MIN, type Order, type OrderId } from '../../orders/order.ts';
import type { ScanVisit } from '../store.ts';
import { ORDER_COLUMNS, orderFromRow } from '../tables/orders.ts';
import type { Row } from '../tables/session.ts';
import { newSession } from './database/connection.ts';
import { BEGIN_SNAPSHOT, type Session } from './database/session.ts';
import { BULK } from './database/time-limits.ts';

/** Orders per batch; bounds memory and how long the event loop is blocked. */
export const BATCH = 2_000;

/** See Store.scan. Uses a session of its own, since it lasts as long as the visitor takes. */
export async function scanOrders(
  url: string,
  visit: ScanVisit,
  from: OrderId = INT64_MIN,
): Promise<void> {
  const session = await newSession(url, BULK);
  try {
    await session.run(BEGIN_SNAPSHOT);
    await session.query(DECLARE, [from]);
    await visitFetched(session, await session.query(FETCH), visit);
  } finally {
    session.destroy();
  }
}

const DECLARE = `DECLARE found NO SCROLL CURSOR FOR SELECT ${ORDER_COLUMNS} FROM orders WHERE id >= $1 ORDER BY id`;

/** Fetches the next batch of the cursor "found". */
export const FETCH = `FETCH ${BATCH} FROM found`;

/** Fetches each batch while the previous one is processed; yields to the event loop after each. */
export async function visitFetched(
  session: Session,
  first: readonly Row[],
  visit: (orders: readonly Order[]) => unknown,
): Promise<void> {
  for (let rows = first; rows.length > 0; ) {
    const next = rows.length < BATCH ? [] : session.query(FETCH);
    // Awaited below; the empty handler prevents an unhandled rejection until then.
    if (next instanceof Promise) next.catch(() => {});
    if ((await visit(rows.map(orderFromRow))) === false) return;
    await nextTurn();
    rows = await next;
  }
}
