import { ORDER_STATUSES, type OrderId, type OrderRecord } from '../../domain/order.ts';
import {
  COMPARABLE,
  type Comparison,
  comparisonsOf,
  dividedFilter,
  type Field,
  isInRange,
  narrowestSort,
  type OrderFilter,
  type Sort,
} from '../order-filter.ts';
import {
  countsOf,
  hasUndatedLast,
  MAX_ROWS_READ,
  type OrderCounts,
  type OrderPage,
  type PageQuery,
  placeOf,
  type SortKey,
  UNDATED,
} from '../pages.ts';
import { type MovedOption, StoreUnavailable } from '../store.ts';
import { HEADS_NOT_COMPUTED } from '../tables/heads.ts';
import { IS_LAST_EVENT, ORDER_COLUMNS, RECORD_WIDTH, recordFromRow } from '../tables/orders.ts';
import type { Value } from '../tables/session.ts';
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
    ...placeValues(sort, after),
    ...filterValues(query.filter),
  ]);
  const width = WALKS[sort].columns.length;
  const ends = requireStoreRow(rows[0]).slice(RECORD_WIDTH + width);
  const [looked, ...position] = ends.slice(width);
  const found = rows.filter(([id]) => id !== null).map(recordFromRow);
  const page = { orders: found.slice(0, limit), position: positionFromRow(position) };
  if (found.length > limit) return { ...page, next: placeOf(page.orders.at(-1)!, sort) };
  if (Number(looked) < rowCount) return { ...page, next: undefined };
  const sortKey = ends.slice(0, width - 1) as SortKey;
  return { ...page, next: { sortKey, id: ends[width - 1] as OrderId } };
}

/** See Store.count. One statement, so one snapshot. */
export async function countMatching(session: Session, filter: OrderFilter): Promise<OrderCounts> {
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
  const place = placeValues(sort, undefined);
  const values = [MAX_ROWS_READ + 1, null, ...place, ...filterValues(filter)];
  const [row] = await session.query(countStatement(filter, sort), values);
  const [looked, pending, shipped, cancelled, ...position] = requireStoreRow(row);
  return {
    orders: {
      pending: pending as bigint,
      shipped: shipped as bigint,
      cancelled: cancelled as bigint,
    },
    isExact: Number(looked) <= MAX_ROWS_READ,
    position: positionFromRow(position),
  };
}

const PLACED_AT =
  '(SELECT at FROM order_events WHERE order_id = orders.id ORDER BY revision LIMIT 1)';
const UPDATED_AT =
  '(SELECT at FROM order_events WHERE order_id = orders.id AND revision = orders.revision LIMIT 1)';

/** The columns expected by `recordFromRow`, of an order in `orders`. */
const RECORD_COLUMNS = `${ORDER_COLUMNS}, revision,
  ${UPDATED_AT},
  ${PLACED_AT}`;

/** In one statement with the guard, so in one snapshot. */
const ORDERS = `SELECT found.*, store.moved_to, ${ON_STANDBY} FROM store
    LEFT JOIN (SELECT ${RECORD_COLUMNS} FROM orders WHERE id = ANY ($1::bigint[])) AS found ON true`;

/** The rows of an index with their orders. */
interface Walk {
  readonly from: string;
  /** The columns of a place: those of its sort key, and the id. */
  readonly columns: readonly string[];
  /** The parameters that have the values of a place. */
  readonly place: readonly string[];
  /** What rows with the same place are sorted by. */
  readonly further?: string;
}

const SHIP_DATE = `coalesce(ship_date, ${UNDATED})`;
/** Sorted by code points, whatever the collation of the database. */
const REFERENCE = '(orders.reference COLLATE "C")';

const WALKS: Readonly<Record<Sort, Walk>> = {
  id: { from: 'orders', columns: ['orders.id'], place: ['$4'] },
  placedAt: {
    from: "(SELECT at, order_id FROM order_events WHERE type = 'placed') AS placed JOIN orders ON orders.id = placed.order_id",
    columns: ['placed.at', 'placed.order_id'],
    place: ['$3', '$4'],
  },
  updatedAt: {
    // Events that were not the last ones of their orders have no order. The limit makes the planner look up each order by its id.
    from: `order_events AS changed LEFT JOIN LATERAL (
      SELECT * FROM orders WHERE ${IS_LAST_EVENT} LIMIT 1) AS orders ON true`,
    columns: ['changed.at', 'changed.revision', 'changed.order_id'],
    place: ['$3', '$5', '$4'],
    // An order that was placed and changed in one revision has two rows. A page may end after the first one, which has the order.
    further: "changed.type = 'placed'",
  },
  shipDate: { from: 'orders', columns: [SHIP_DATE, 'orders.id'], place: ['$3', '$4'] },
  reference: { from: 'orders', columns: [REFERENCE, 'orders.id'], place: ['$6', '$4'] },
};

/** The parameters of the filter begin here. */
const FIRST_OF_FILTER = 7;

/**
 * All parameters, with their types: every statement has them all, so that there are few statements to prepare. $1 is the maximum number of rows
 * to read, $2 that of orders; $3 to $6 are a place; the others are the values of the filter, in the sequence of COMPARABLE.
 */
const GIVEN = `given AS (SELECT $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::text,
  ${COMPARABLE.map((each, index) => `$${FIRST_OF_FILTER + index}::${typeOf(each)}`).join(', ')})`;

function typeOf({ field, sign }: Omit<Comparison, 'value'>): string {
  if (sign === 'IN') return 'text[]';
  return field === 'reference' ? 'text' : 'bigint';
}

/** $3 to $6. */
function placeValues(sort: Sort, after: PageQuery['after']): Value[] {
  const values = after === undefined ? [] : [...after.sortKey, after.id];
  const { place } = WALKS[sort];
  return ['$3', '$4', '$5', '$6'].map((parameter) => values[place.indexOf(parameter)] ?? null);
}

/** The values of COMPARABLE. */
function filterValues(filter: OrderFilter): Value[] {
  const given = comparisonsOf(filter);
  return COMPARABLE.map(({ field, sign }) => {
    const { value } = given.find((each) => each.field === field && each.sign === sign) ?? {};
    return typeof value === 'object' ? arrayOf(value) : (value ?? null);
  });
}

function parameterOf({ field, sign }: Omit<Comparison, 'value'>): string {
  const index = COMPARABLE.findIndex((each) => each.field === field && each.sign === sign);
  return `$${FIRST_OF_FILTER + index}`;
}

/** What the fields are compared with, except by the index of the walk. */
const COLUMNS: Readonly<Record<Field, string>> = {
  ...{ status: 'status', petId: 'pet_id', reference: REFERENCE, shipDate: 'ship_date' },
  ...{ placedAt: PLACED_AT, updatedAt: UPDATED_AT },
};

/** Returns a query for the rows that a page or a count reads, with the columns of their places, key_0 and so on. */
function rowsRead(query: Omit<PageQuery, 'limit'>): string {
  if (!hasUndatedLast(query)) return segment(query);
  const isUndated = `${SHIP_DATE} = ${UNDATED}`;
  if (query.after?.sortKey[0] === UNDATED) return segment(query, isUndated);
  const dated = segment(query, `${SHIP_DATE} < ${UNDATED}`);
  const rest = 'greatest($1 - (SELECT count(*) FROM dated), 0)';
  const undated = segment({ ...query, after: undefined }, isUndated, rest);
  return `WITH dated AS MATERIALIZED (${dated}), undated AS MATERIALIZED (${undated})
    SELECT * FROM dated UNION ALL SELECT * FROM undated`;
}

/** The rows of a walk that meet a condition. They follow the place, if there is one. */
function segment(
  { filter, sort = 'id', isDescending, after }: Omit<PageQuery, 'limit'>,
  condition = 'true',
  limit = '$1',
): string {
  const { range } = dividedFilter(filter, sort);
  const { from, columns, place, further } = WALKS[sort];
  const [first] = columns;
  const direction = isDescending ? 'DESC' : 'ASC';
  const isDated = sort === 'shipDate' && range.length > 0;
  const conditions = [
    condition,
    ...(after ? [`(${columns.join()}) ${isDescending ? '<' : '>'} (${place.join()})`] : []),
    ...(isDated ? [`${first} < ${UNDATED}`] : []),
    ...range.map((each) => {
      const column = sort === 'id' ? COLUMNS[each.field] : first;
      return [column, each.sign, parameterOf(each)].join(' ');
    }),
  ];
  const order = [...columns.map((each) => `${each} ${direction}`), ...(further ? [further] : [])];
  const keys = columns.map((each, index) => `${each} AS key_${index}`);
  return `SELECT orders.*, ${keys.join()} FROM ${from}
    WHERE ${conditions.join(' AND ')} ORDER BY ${order.join()} LIMIT ${limit}`;
}

/** The condition on a row of `rowsRead`, as "orders", without the conditions that its range has applied. */
function matching({ filter, sort = 'id' }: Pick<PageQuery, 'filter' | 'sort'>): string {
  const { rest } = dividedFilter(filter, sort);
  const conditions = COMPARABLE.filter((each) => !isInRange(each, sort)).flatMap((each) => {
    const column = COLUMNS[each.field];
    // Columns alone are compared with every parameter, so that there are few statements; what needs a query, only with those that are given.
    if (column.includes('SELECT') && !rest.some(({ field }) => field === each.field)) return [];
    const parameter = parameterOf(each);
    const comparison =
      each.sign === 'IN' ? `= ANY (${parameter})` : [each.sign, parameter].join(' ');
    return [`(${parameter} IS NULL OR ${column} ${comparison})`];
  });
  return ['orders.id IS NOT NULL', ...conditions].join(' AND ');
}

/**
 * Returns the statement for a page; the materialized queries keep the order. All rows are read, and counted, only if fewer orders than $2 match.
 */
function pageStatement(query: PageQuery): string {
  const { sort = 'id', isDescending } = query;
  const keys = WALKS[sort].columns.map((_, index) => `key_${index}`);
  const isUndated = sort === 'shipDate' ? [`key_0 = ${UNDATED}`] : [];
  const sorted = (undated: string, direction: string) =>
    [
      ...isUndated.map((each) => `${each} ${undated}`),
      ...keys.map((each) => `${each} ${direction}`),
    ].join();
  const [direction, reverse] = isDescending ? ['DESC', 'ASC'] : ['ASC', 'DESC'];
  return `WITH ${GIVEN}, looked AS MATERIALIZED (${rowsRead(query)}),
      found AS MATERIALIZED (
        SELECT ${RECORD_COLUMNS}, ${keys.join()} FROM looked AS orders WHERE ${matching(query)} LIMIT $2)
      SELECT found.*, ends.*, ${POSITION_COLUMNS}
      FROM store LEFT JOIN found ON true
        LEFT JOIN LATERAL (SELECT ${keys.join()}, (SELECT count(*) FROM looked) FROM looked
          WHERE (SELECT count(*) FROM found) < $2
          ORDER BY ${sorted('DESC', reverse)} LIMIT 1) AS ends ON true
      ORDER BY ${sorted('ASC', direction).replaceAll('key_', 'found.key_')}`;
}

/** $2, which a count does not need, is NULL. */
function countStatement(filter: OrderFilter, sort: Sort): string {
  const count = (status: string) => `(SELECT count(*) FROM found WHERE status = '${status}')`;
  return `WITH ${GIVEN}, looked AS MATERIALIZED (${rowsRead({ filter, sort, isDescending: true })}),
      found AS MATERIALIZED (SELECT status FROM looked AS orders WHERE ${matching({ filter, sort })})
      SELECT (SELECT count(*) FROM looked), ${ORDER_STATUSES.map(count).join()}, ${POSITION_COLUMNS} FROM store`;
}
