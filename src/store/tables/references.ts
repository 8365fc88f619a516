import type { ReferenceName } from '../../domain/batch.ts';
import type { KnownReference } from '../../domain/placement.ts';
import { ORDER_COLUMNS, orderBeforeFromRow } from './orders.ts';
import { jsonRows, type Session } from './session.ts';

/** Returns the orders that have these references, as they were placed. */
export async function findReferences(
  session: Session,
  wanted: readonly ReferenceName[],
): Promise<KnownReference[]> {
  if (wanted.length === 0) return [];
  const names = wanted.map(({ by, reference }) => [by, reference]);
  const rows = await session.query(FIND, [jsonRows(names)]);
  return rows.map(([by, ...order]) => ({ by: by as string, placed: orderBeforeFromRow(order) }));
}

const FIND = `SELECT reference_key, ${ORDER_COLUMNS}, later.type, later.ship_date_before, later.complete_before
  FROM json_array_elements($1::json) AS asked
  CROSS JOIN orders
  LEFT JOIN order_events AS later ON later.revision = orders.revision AND later.order_id = orders.id
    AND later.type <> 'placed'
  WHERE orders.reference = asked.value ->> 1 AND reference_key = asked.value ->> 0`;
