import { INT64_MAX, INT64_MIN, type OrderId, type OrderRecord } from '../../orders/order.ts';
import { isSelective, MAX_ROWS_READ, type OrderPage, type PageQuery } from '../pages.ts';
import { ORDER_COLUMNS, ORDER_WIDTH, orderFromRow } from '../tables/orders.ts';
import type { Row } from '../tables/session.ts';
import { expectNotMovedAway, requireStoreRow } from '../tables/store-row.ts';
import { arrayOf } from './database/arrays.ts';
import type { Session } from './database/session.ts';
import { POSITION_COLUMNS, positionFromRow } from './feed.ts';

/** See Store.record. */
export async function readRecord(session: Session, id: OrderId): Promise<OrderRecord | undefined> {
  const row = requireStoreRow((await session.query(RECORD, [id]))[0]);
  expectNotMovedAway(row[RECORD_WIDTH]);
  return row[0] === null ? undefined : recordFromRow(row);
}

/** See Store.records. */
export async function readRecords(
  session: Session,
  ids: readonly OrderId[],
): Promise<OrderRecord[]> {
  const rows = await session.query(RECORDS, [arrayOf(ids)]);
  expectNotMovedAway(requireStoreRow(rows[0])[RECORD_WIDTH]);
  return rows.filter(([id]) => id !== null).map(recordFromRow);
}

/** See Store.page. One statement, so one snapshot. */
export async function readPage(session: Session, query: PageQuery): Promise<OrderPage> {
  const { isDescending, after, limit } = query;
  const { statuses, petId, reference, shipDateFrom, shipDateBefore } = query.filter;
  const last = isDescending ? INT64_MIN : INT64_MAX;
  const first = isDescending ? INT64_MAX : INT64_MIN;
  const from = after === undefined ? first : after + (isDescending ? -1n : 1n);
  // If all orders match, no row is read beyond the page.
  const rowCount = isSelective(query.filter) ? MAX_ROWS_READ : limit + 1;
  const isPastEnd = after === last;
  const rows = await session.query(statementOf(query), [
    isPastEnd ? last : from,
    isPastEnd ? 0 : rowCount,
    limit + 1,
    petId ?? null,
    statuses === undefined ? null : arrayOf(statuses),
    shipDateFrom ?? null,
    shipDateBefore ?? null,
    reference ?? null,
  ]);
  const position = positionFromRow(requireStoreRow(rows[0]).slice(RECORD_WIDTH + 2));
  const [lastLookedAt, lookedAt] = rows[0]!.slice(RECORD_WIDTH);
  const found = rows.filter(([id]) => id !== null).map(recordFromRow);
  const orders = found.slice(0, limit);
  if (found.length > limit) return { orders, next: orders.at(-1)!.id, position };
  const isEnd = Number(lookedAt) < rowCount;
  return { orders, next: isEnd ? undefined : (lastLookedAt as bigint), position };
}

/** The columns expected by `recordFromRow`, of an order in `orders`. */
const RECORD_COLUMNS = `${ORDER_COLUMNS}, revision,
  (SELECT at FROM order_events WHERE order_id = orders.id AND revision = orders.revision LIMIT 1),
  (SELECT at FROM order_events WHERE order_id = orders.id ORDER BY revision LIMIT 1)`;

/** Number of RECORD_COLUMNS. */
const RECORD_WIDTH = ORDER_WIDTH + 3;

function recordFromRow(row: Row): OrderRecord {
  const [revision, updatedAt, placedAt] = row.slice(ORDER_WIDTH);
  return {
    ...orderFromRow(row),
    revision: revision as bigint,
    updatedAt: Number(updatedAt),
    placedAt: Number(placedAt),
  };
}

const RECORD = recordsStatement('id = $1');
const RECORDS = recordsStatement('id = ANY ($1::bigint[])');

/** In one statement with the guard; a row of NULLs if there is no order. */
function recordsStatement(condition: string): string {
  return `SELECT found.*, store.moved_to FROM store
    LEFT JOIN (SELECT ${RECORD_COLUMNS} FROM orders WHERE ${condition}) AS found ON true`;
}

/**
 * Returns the statement for a page; the materialized queries keep the order. $1 is the first id, $2 the maximum number of rows
 * to read, $3 the maximum number to return. All $2 rows are read, and counted, only if fewer than $3 match.
 */
function statementOf({ filter, isDescending }: PageQuery): string {
  const { petId, reference } = filter;
  const order = isDescending ? 'DESC' : 'ASC';
  return `WITH looked AS MATERIALIZED (
        SELECT * FROM orders WHERE id ${isDescending ? '<=' : '>='} $1
          ${petId === undefined ? 'AND $4::bigint IS NULL' : 'AND pet_id = $4::bigint'}
          ${reference === undefined ? 'AND $8::text IS NULL' : 'AND reference = $8::text'}
        ORDER BY id ${order} LIMIT $2),
      found AS MATERIALIZED (
        SELECT ${RECORD_COLUMNS} FROM looked AS orders
        WHERE ($5::text[] IS NULL OR status = ANY ($5::text[]))
          AND ($6::bigint IS NULL OR ship_date >= $6::bigint)
          AND ($7::bigint IS NULL OR ship_date < $7::bigint)
        LIMIT $3)
      SELECT found.*, all_looked_at.*, ${POSITION_COLUMNS}
      FROM store LEFT JOIN found ON true
        LEFT JOIN LATERAL (SELECT ${isDescending ? 'min' : 'max'}(id), count(*) FROM looked
          WHERE (SELECT count(*) FROM found) < $3) AS all_looked_at ON true
      ORDER BY found.id ${order}`;
}
