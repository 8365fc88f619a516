import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Order } from '../../domain/order.ts';
import type { ScanRange, ScanVisit } from '../history.ts';
import { ORDER_COLUMNS, orderBeforeFromRow, orderFromRow } from '../tables/orders.ts';
import type { Row } from '../tables/session.ts';
import { newSession } from './database/connection.ts';
import { BEGIN_SNAPSHOT, type Session } from './database/session.ts';
import { BULK } from './database/session-settings.ts';

/** Orders per batch; bounds memory and how long the event loop is blocked. */
export const BATCH = 2_000;

/** See History.scan. Uses a session of its own, since the visitor decides how long it lasts. */
export async function scanOrders(
  url: string,
  visit: ScanVisit,
  { at }: ScanRange = {},
): Promise<void> {
  using session = await newSession(url, BULK);
  await session.run(BEGIN_SNAPSHOT);
  if (at === undefined) await session.query(DECLARE);
  else await session.query(DECLARE_AT_REVISION, [at]);
  const fromRow = at === undefined ? orderFromRow : orderBeforeFromRow;
  await visitFetched(session, await session.query(FETCH), visit, fromRow);
}

const DECLARE = `DECLARE found NO SCROLL CURSOR FOR SELECT ${ORDER_COLUMNS} FROM orders ORDER BY id`;

/** Orders as they were at a revision. Those that have changed since get the values that their latest event has overwritten. */
const DECLARE_AT_REVISION = `DECLARE found NO SCROLL CURSOR FOR
    SELECT ${ORDER_COLUMNS}, later.type, later.ship_date_before, later.complete_before
    FROM orders LEFT JOIN order_events AS later ON orders.revision > $1 AND later.revision = orders.revision
      AND later.order_id = orders.id AND later.type <> 'placed'
    WHERE orders.revision <= $1
      OR EXISTS (SELECT FROM order_events AS placed WHERE placed.order_id = orders.id AND placed.revision <= $1)
    ORDER BY id`;

/** Fetches the next batch of the cursor "found". */
export const FETCH = `FETCH ${BATCH} FROM found`;

/** Fetches each batch while the previous one is processed; yields to the event loop after each. */
export async function visitFetched(
  session: Session,
  first: readonly Row[],
  visit: (orders: readonly Order[]) => unknown,
  fromRow: (row: Row) => Order = orderFromRow,
): Promise<void> {
  for (let rows = first; rows.length > 0; ) {
    const next = rows.length < BATCH ? [] : session.query(FETCH);
    // Awaited below; the empty handler prevents an unhandled rejection until then.
    if (next instanceof Promise) next.catch(() => {});
    if ((await visit(rows.map((row) => fromRow(row)))) === false) return;
    await nextTurn();
    rows = await next;
  }
}
