import {
  COMPARABLE,
  type Comparison,
  comparisonsOf,
  dividedFilter,
  type Field,
  isInRange,
  type OrderFilter,
  type Sort,
} from '../order-filter.ts';
import { hasUndatedLast, type PageQuery, UNDATED } from '../pages.ts';
import { IS_LAST_EVENT, ORDER_COLUMNS } from '../tables/orders.ts';
import type { Value } from '../tables/session.ts';
import { arrayOf } from './database/arrays.ts';

const PLACED_AT =
  '(SELECT at FROM order_events WHERE order_id = orders.id ORDER BY revision LIMIT 1)';
const UPDATED_AT =
  '(SELECT at FROM order_events WHERE order_id = orders.id AND revision = orders.revision LIMIT 1)';

/** The columns expected by `recordFromRow`, of an order in `orders`. */
export const RECORD_COLUMNS = `${ORDER_COLUMNS}, revision,
  ${UPDATED_AT},
  ${PLACED_AT}`;

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

export const WALKS: Readonly<Record<Sort, Walk>> = {
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
export const GIVEN = `given AS (SELECT $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::text,
  ${COMPARABLE.map((each, index) => `$${FIRST_OF_FILTER + index}::${typeOf(each)}`).join(', ')})`;

function typeOf({ field, sign }: Omit<Comparison, 'value'>): string {
  if (sign === 'IN') return 'text[]';
  return field === 'reference' ? 'text' : 'bigint';
}

/** The parameters of further values begin here. */
export const AFTER_FILTER = FIRST_OF_FILTER + COMPARABLE.length;

/** $3 to $6. */
export function placeValues(sort: Sort, after: PageQuery['after']): Value[] {
  const values = after === undefined ? [] : [...after.sortKey, after.id];
  const { place } = WALKS[sort];
  return ['$3', '$4', '$5', '$6'].map((parameter) => values[place.indexOf(parameter)] ?? null);
}

/** The values of COMPARABLE. */
export function filterValues(filter: OrderFilter): Value[] {
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

/**
 * The reference of a row, if SQL cannot decide whether it contains a part: only of ASCII the upper case is the same as that of `caseless`, in every
 * database. NULL for other references.
 */
export const UNDECIDED =
  'CASE WHEN octet_length(orders.reference) <> char_length(orders.reference) THEN orders.reference END';

function mayContain(part: string): string {
  return `(${UNDECIDED} IS NOT NULL OR strpos(upper(${REFERENCE}), ${part}) > 0)`;
}

/** What the fields are compared with, except by the index of the walk. */
const COLUMNS: Readonly<Record<Field, string>> = {
  ...{ status: 'status', petId: 'pet_id', reference: REFERENCE, shipDate: 'ship_date' },
  ...{ placedAt: PLACED_AT, updatedAt: UPDATED_AT },
};

/** Returns a query for the rows that a page or a count reads, with the columns of their places, key_0 and so on. */
export function rowsRead(query: Omit<PageQuery, 'limit'>): string {
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
    ...range.map((each) => within(each, sort)),
  ];
  const order = [...columns.map((each) => `${each} ${direction}`), ...(further ? [further] : [])];
  const keys = columns.map((each, index) => `${each} AS key_${index}`);
  return `SELECT orders.*, ${keys.join()} FROM ${from}
    WHERE ${conditions.join(' AND ')} ORDER BY ${order.join()} LIMIT ${limit}`;
}

/** The condition on the rows of a walk that its index selects by. */
export function within(each: Comparison, sort: Sort): string {
  const column = sort === 'id' ? COLUMNS[each.field] : WALKS[sort].columns[0];
  return [column, each.sign, parameterOf(each)].join(' ');
}

/** The condition on a row of `rowsRead`, as "orders", without the conditions that its range has applied. */
export function matching({ filter, sort = 'id' }: Pick<PageQuery, 'filter' | 'sort'>): string {
  const { rest } = dividedFilter(filter, sort);
  const conditions = COMPARABLE.filter((each) => !isInRange(each, sort)).flatMap((each) => {
    const column = COLUMNS[each.field];
    // Columns alone are compared with every parameter, so that there are few statements; what needs a query, only with those that are given.
    if (column.includes('SELECT') && !rest.some(({ field }) => field === each.field)) return [];
    const parameter = parameterOf(each);
    if (each.sign === 'CONTAINS') return [`(${parameter} IS NULL OR ${mayContain(parameter)})`];
    const comparison =
      each.sign === 'IN' ? `= ANY (${parameter})` : [each.sign, parameter].join(' ');
    return [`(${parameter} IS NULL OR ${column} ${comparison})`];
  });
  return ['orders.id IS NOT NULL', ...conditions].join(' AND ');
}
