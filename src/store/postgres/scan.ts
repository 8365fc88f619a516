import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Order } from '../../domain/order.ts';
import type { History } from '../history.ts';
import { ORDER_COLUMNS, orderBeforeFromRow, orderFromRow } from '../tables/orders.ts';
import type { Row, StoreReads } from '../tables/session.ts';
import { newSession } from './database/connection.ts';
import { batchesOf } from './database/cursor.ts';
import { BEGIN_SNAPSHOT } from './database/session.ts';
import { BULK } from './database/session-settings.ts';

/** Orders per batch; bounds memory and how long the event loop is blocked. */
export const BATCH = 2_000;

/** Uses a session of its own, since the visitor decides how long it lasts. */
export const scanOrders: StoreReads<History, string>['scan'] = async (url, visit, at) => {
  using session = await newSession(url, BULK);
  await session.run(BEGIN_SNAPSHOT);
  const options = { cursor: 'found', size: BATCH };
  if (at === undefined) await visitBatches(batchesOf(session, options, ALL), visit);
  else
    await visitBatches(batchesOf(session, options, AT_REVISION, [at]), visit, orderBeforeFromRow);
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
export async function visitBatches(
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
