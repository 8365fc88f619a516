import { ORDER_STATUSES, type OrderId, type OrderRecord } from '../../domain/order.ts';
import {
  countsOf,
  dividedFilter,
  hasUndatedLast,
  MAX_ROWS_COUNTED,
  MAX_ROWS_READ,
  narrowestSort,
  type OrderCounts,
  type OrderFilter,
  type OrderPage,
  type PageQuery,
  placeOf,
  type Sort,
  UNDATED,
} from '../pages.ts';
import { type MovedOption, StoreUnavailable } from '../store.ts';
import { HEADS_NOT_COMPUTED } from '../tables/heads.ts';
import { ORDER_COLUMNS, ORDER_WIDTH, orderFromRow } from '../tables/orders.ts';
import type { Row, Value } from '../tables/session.ts';
import { expectNotMovedAway, readStatus, requireStoreRow } from '../tables/store-row.ts';
import { arrayOf } from './database/arrays.ts';
import type { Session } from './database/session.ts';
import { expectOnPrimary, ON_STANDBY } from './database/standby.ts';
import { POSITION_COLUMNS, positionFromRow, readPosition } from './feed.ts';

/** See Store.orders. */
export async function readOrders(
  session: Session,
  ids: readonly OrderId[],
  { evenIfMoved }: MovedOption = { evenIfMoved: false },
): Promise<OrderRecord[]> {
  const rows = await session.query(ORDERS, [arrayOf(ids)]);
  const [movedTo, onStandby] = requireStoreRow(rows[0]).slice(RECORD_WIDTH);
  expectOnPrimary(onStandby);
  if (!evenIfMoved) expectNotMovedAway(movedTo);
  // If none of the orders exists, the LEFT JOIN returns one row without an order.
  return rows.filter(([id]) => id !== null).map(recordFromRow);
}

/** See Store.page. One statement, so one snapshot. */
export async function readPage(session: Session, query: PageQuery): Promise<OrderPage> {
  const { sort = 'id', after, limit } = query;
  const { isSelective } = dividedFilter(query.filter, sort);
  // If all orders match, no row is read beyond the page.
  const rowCount = isSelective ? MAX_ROWS_READ : limit + 1;
  const rows = await session.query(pageStatement(query), [
    rowCount,
    limit + 1,
    after?.time ?? null,
    after?.id ?? null,
    ...filterValues(query.filter),
  ]);
  const ends = requireStoreRow(rows[0]).slice(RECORD_WIDTH + 2);
  const [time, id, looked] = ends;
  const position = positionFromRow(ends.slice(3));
  const found = rows.filter(([id]) => id !== null).map(recordFromRow);
  const orders = found.slice(0, limit);
  if (found.length > limit) return { orders, next: placeOf(orders.at(-1)!, sort), position };
  const isEnd = Number(looked) < rowCount;
  const next = { ...(sort !== 'id' && { time: time as bigint }), id: id as OrderId };
  return { orders, next: isEnd ? undefined : next, position };
}

/** See Store.count. One statement, so one snapshot. */
export async function countOrders(session: Session, filter: OrderFilter): Promise<OrderCounts> {
  const sort = narrowestSort(filter);
  if (sort === undefined) {
    // The guard first: the counters have the position of their own statement.
    const [, { orders, revision, head }] = await Promise.all([
      readPosition(session),
      readStatus(session),
    ]);
    if (head === undefined) throw new StoreUnavailable(HEADS_NOT_COMPUTED, 'schema');
    return { orders: countsOf(filter, orders), isExact: true, position: { revision, head } };
  }
  const values = [MAX_ROWS_COUNTED + 1, null, null, null, ...filterValues(filter)];
  const [row] = await session.query(countStatement(filter, sort), values);
  const [looked, pending, shipped, cancelled, ...position] = requireStoreRow(row);
  return {
    orders: {
      pending: pending as bigint,
      shipped: shipped as bigint,
      cancelled: cancelled as bigint,
    },
    isExact: Number(looked) <= MAX_ROWS_COUNTED,
    position: positionFromRow(position),
  };
}

const PLACED_AT =
  '(SELECT at FROM order_events WHERE order_id = orders.id ORDER BY revision LIMIT 1)';

/** The columns expected by `recordFromRow`, of an order in `orders`. */
const RECORD_COLUMNS = `${ORDER_COLUMNS}, revision,
  (SELECT at FROM order_events WHERE order_id = orders.id AND revision = orders.revision LIMIT 1),
  ${PLACED_AT}`;

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

/** In one statement with the guard, so in one snapshot. */
const ORDERS = `SELECT found.*, store.moved_to, ${ON_STANDBY} FROM store
    LEFT JOIN (SELECT ${RECORD_COLUMNS} FROM orders WHERE id = ANY ($1::bigint[])) AS found ON true`;

/** The rows of an index with their orders, and the columns of the position: a time, and the id. */
const WALKS: Readonly<Record<Sort, readonly [from: string, time: string, id: string]>> = {
  id: ['orders', 'NULL::bigint', 'orders.id'],
  shipDate: ['orders', `coalesce(ship_date, ${UNDATED})`, 'orders.id'],
  placedAt: [
    "(SELECT at, order_id FROM order_events WHERE type = 'placed') AS placed JOIN orders ON orders.id = placed.order_id",
    'placed.at',
    'placed.order_id',
  ],
};

/** $5 to $11 of `rowsRead`. */
function filterValues({ statuses, petId, reference, ...times }: OrderFilter): Value[] {
  const { shipDateFrom, shipDateBefore, placedFrom, placedBefore } = times;
  return [
    statuses === undefined ? null : arrayOf(statuses),
    petId ?? null,
    reference ?? null,
    ...[shipDateFrom ?? null, shipDateBefore ?? null, placedFrom ?? null, placedBefore ?? null],
  ];
}

/** Returns the condition on a time; all parameters are named, since the statement must have them all. */
function timeIn(column: string, from: string, before: string): string {
  return `(${from}::bigint IS NULL OR ${column} >= ${from}::bigint) AND (${before}::bigint IS NULL OR ${column} < ${before}::bigint)`;
}

/**
 * Returns a query for the rows that a page or a count reads, with time_of and id_of, and whether they match. $1 is their maximum number; they
 * follow ($3, $4).
 */
function rowsRead(query: Omit<PageQuery, 'limit'>): string {
  const { after } = query;
  const [, time] = WALKS.shipDate;
  if (!hasUndatedLast(query)) return segment(query, { isContinued: after !== undefined });
  const isUndated = `${time} = ${UNDATED}`;
  if (after?.time === UNDATED) return segment(query, { isContinued: true, condition: isUndated });
  const dated = segment(query, {
    isContinued: after !== undefined,
    condition: `${time} < ${UNDATED}`,
  });
  const undated = segment(query, {
    isContinued: false,
    condition: isUndated,
    limit: 'greatest($1 - (SELECT count(*) FROM dated), 0)',
  });
  return `WITH dated AS MATERIALIZED (${dated}), undated AS MATERIALIZED (${undated})
    SELECT * FROM dated UNION ALL SELECT * FROM undated`;
}

/** Which rows of a walk are read. */
interface Segment {
  /** Whether it begins after a position. */
  readonly isContinued: boolean;
  readonly condition?: string;
  readonly limit?: string;
}

function segment(
  { filter, sort = 'id', isDescending }: Omit<PageQuery, 'limit'>,
  { isContinued, condition = 'true', limit = '$1' }: Segment,
): string {
  const { range } = dividedFilter(filter, sort);
  const [from, time, id] = WALKS[sort];
  const direction = isDescending ? 'DESC' : 'ASC';
  const later = isDescending ? '<' : '>';
  const columns = sort === 'id' ? [id] : [time, id];
  // Every parameter must have a type, even if it is not used.
  const begin = !isContinued
    ? '($3::bigint IS NULL OR true) AND ($4::bigint IS NULL OR true)'
    : sort === 'id'
      ? `$3::bigint IS NULL AND ${id} ${later} $4::bigint`
      : `(${columns.join()}) ${later} ($3::bigint, $4::bigint)`;
  const conditions = [
    ...[begin, condition],
    ...(range.petId === undefined ? [] : ['pet_id = $6::bigint']),
    ...(range.reference === undefined ? [] : ['orders.reference = $7::text']),
    ...(range.shipDateFrom === undefined ? [] : [`${time} >= $8::bigint AND ${time} < ${UNDATED}`]),
    ...(range.shipDateBefore === undefined ? [] : [`${time} < $9::bigint`]),
    ...(range.placedFrom === undefined ? [] : [`${time} >= $10::bigint`]),
    ...(range.placedBefore === undefined ? [] : [`${time} < $11::bigint`]),
  ];
  return `SELECT orders.*, ${time} AS time_of, ${id} AS id_of FROM ${from}
    WHERE ${conditions.join(' AND ')} ORDER BY ${columns.map((each) => `${each} ${direction}`).join()} LIMIT ${limit}`;
}

/** The condition on a row of `rowsRead`, as "orders", without the conditions that its range has applied. */
function matching({ filter, sort = 'id' }: Pick<PageQuery, 'filter' | 'sort'>): string {
  const { placedFrom, placedBefore } = dividedFilter(filter, sort).rest;
  const placedAt = placedFrom === undefined && placedBefore === undefined ? undefined : PLACED_AT;
  return `($5::text[] IS NULL OR status = ANY ($5::text[])) AND ($6::bigint IS NULL OR pet_id = $6::bigint)
    AND ($7::text IS NULL OR orders.reference = $7::text) AND ${timeIn('ship_date', '$8', '$9')}
    AND ${placedAt === undefined ? '($10::bigint IS NULL OR true) AND ($11::bigint IS NULL OR true)' : timeIn(placedAt, '$10', '$11')}`;
}

/**
 * Returns the statement for a page; the materialized queries keep the order. $2 is the maximum number of orders to return. All
 * rows are read, and counted, only if fewer match.
 */
function pageStatement(query: PageQuery): string {
  const [direction, reverse] = query.isDescending ? ['DESC', 'ASC'] : ['ASC', 'DESC'];
  return `WITH looked AS MATERIALIZED (${rowsRead(query)}),
      found AS MATERIALIZED (
        SELECT ${RECORD_COLUMNS}, time_of, id_of FROM looked AS orders WHERE ${matching(query)} LIMIT $2)
      SELECT found.*, ends.*, ${POSITION_COLUMNS}
      FROM store LEFT JOIN found ON true
        LEFT JOIN LATERAL (SELECT time_of, id_of, (SELECT count(*) FROM looked) FROM looked
          WHERE (SELECT count(*) FROM found) < $2
          ORDER BY time_of = ${UNDATED} DESC, time_of ${reverse}, id_of ${reverse} LIMIT 1) AS ends ON true
      ORDER BY found.time_of = ${UNDATED}, found.time_of ${direction}, found.id_of ${direction}`;
}

/** $2, which a count does not need, is NULL. */
function countStatement(filter: OrderFilter, sort: Sort): string {
  const count = (status: string) => `(SELECT count(*) FROM found WHERE status = '${status}')`;
  return `WITH looked AS MATERIALIZED (${rowsRead({ filter, sort, isDescending: true })}),
      found AS MATERIALIZED (SELECT status FROM looked AS orders WHERE $2::bigint IS NULL AND ${matching({ filter, sort })})
      SELECT (SELECT count(*) FROM looked), ${ORDER_STATUSES.map(count).join()}, ${POSITION_COLUMNS} FROM store`;
}
