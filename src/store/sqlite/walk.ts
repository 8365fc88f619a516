import type { OrderId } from '../../orders/order.ts';
import {
  dividedFilter,
  type OrderFilter,
  type PagePosition,
  type PageQuery,
  type Sort,
  UNDATED,
} from '../pages.ts';
import type { Value } from '../tables/session.ts';
import type { Session } from './database/session.ts';

/** Rows of `orders` alone that are read in one turn of the event loop, which takes about a millisecond. */
const ROWS_PER_TURN = 10_000;
/** The same for rows that need others: of an index, or the event that placed the order. */
const JOINED_PER_TURN = 1_000;

/** When an order was placed. An order that is not pending has an event before its last one. */
export const PLACED_BEFORE_LAST = `iif(status = 'pending', NULL, (SELECT earlier.at FROM order_events AS latest
    CROSS JOIN order_events AS earlier ON earlier.revision = latest.previous AND earlier.order_id = orders.id
    WHERE latest.revision = orders.revision AND latest.order_id = orders.id LIMIT 1))`;
export const UPDATED_AT = `(SELECT at FROM order_events WHERE revision = orders.revision AND order_id = orders.id LIMIT 1)`;
const PLACED_AT = `coalesce(${PLACED_BEFORE_LAST}, ${UPDATED_AT})`;

type Condition = readonly [sql: string, ...values: readonly Value[]];

/** The rows that a query reads, in the order of an index. */
export interface Walk {
  /** The rows of the index. */
  readonly index: string;
  /** The same rows, with their orders. */
  readonly orders: string;
  /** The columns of the position. */
  readonly columns: readonly string[];
  readonly direction: 'ASC' | 'DESC';
  /** Which rows of the index are read. */
  readonly range: readonly Condition[];
  /** Which of these rows match. */
  readonly rest: readonly Condition[];
  /** Whether rows are read that do not match. */
  readonly isSelective: boolean;
  readonly rowsPerTurn: number;
}

const SHIP_DATE = `coalesce(ship_date, ${UNDATED})`;
const BY_SHIP_DATE = 'orders INDEXED BY orders_by_ship_date';
const BY_PLACED = 'order_events AS placed INDEXED BY order_events_placed';

const INDEXES: Readonly<Record<Sort, Pick<Walk, 'index' | 'orders' | 'columns'>>> = {
  id: { index: 'orders', orders: 'orders', columns: ['id'] },
  shipDate: { index: BY_SHIP_DATE, orders: BY_SHIP_DATE, columns: [SHIP_DATE, 'id'] },
  placedAt: {
    index: BY_PLACED,
    orders: `${BY_PLACED} CROSS JOIN orders ON orders.id = placed.order_id`,
    columns: ['placed.at', 'placed.order_id'],
  },
};

export function walkOf({ filter, sort = 'id', isDescending }: Omit<PageQuery, 'limit'>): Walk {
  const { range, rest, isSelective } = dividedFilter(filter, sort);
  const isJoined = [rest.placedFrom, rest.placedBefore].some((each) => each !== undefined);
  return {
    ...INDEXES[sort],
    direction: isDescending ? 'DESC' : 'ASC',
    range: rangeOf(range, sort),
    rest: restOf(rest),
    isSelective,
    rowsPerTurn: sort === 'id' && !isJoined ? ROWS_PER_TURN : JOINED_PER_TURN,
  };
}

function rangeOf(filter: OrderFilter, sort: Sort): Condition[] {
  const { petId, reference, shipDateFrom, shipDateBefore, placedFrom, placedBefore } = filter;
  if (sort === 'placedAt') {
    const placed: Condition = ["placed.type = 'placed'"];
    return [placed, ...timesOf('placed.at', placedFrom, placedBefore)];
  }
  if (sort === 'shipDate') {
    const isDated = shipDateFrom !== undefined && shipDateBefore === undefined;
    return timesOf(SHIP_DATE, shipDateFrom, isDated ? UNDATED : shipDateBefore);
  }
  const named: Condition[] = reference === undefined ? [] : [['reference = ?', reference]];
  // With "+", the planner does not use the index of pets: few orders have a reference in common.
  const column = reference === undefined ? 'pet_id' : '+pet_id';
  return petId === undefined ? named : [[`${column} = ?`, petId], ...named];
}

/** The conditions on what is not in the index. */
function restOf(filter: OrderFilter): Condition[] {
  const { statuses, petId, reference, shipDateFrom, shipDateBefore } = filter;
  const conditions = [
    ...timesOf('ship_date', shipDateFrom, shipDateBefore),
    ...timesOf(PLACED_AT, filter.placedFrom, filter.placedBefore),
  ];
  if (statuses !== undefined) {
    conditions.push([`status IN (${statuses.map(() => '?').join()})`, ...statuses]);
  }
  if (petId !== undefined) conditions.push(['pet_id = ?', petId]);
  if (reference !== undefined) conditions.push(['reference = ?', reference]);
  return conditions;
}

function timesOf(
  column: string,
  from: number | undefined,
  before: number | bigint | undefined,
): Condition[] {
  const conditions: Condition[] = [];
  if (from !== undefined) conditions.push([`${column} >= ?`, from]);
  if (before !== undefined) conditions.push([`${column} < ?`, before]);
  return conditions;
}

/** The condition on rows after a position, up to and including another. */
export function between(
  { columns, direction }: Walk,
  after: PagePosition | undefined,
  last: PagePosition | undefined,
): Condition[] {
  const [later, upTo] = direction === 'ASC' ? ['>', '<='] : ['<', '>='];
  const columnsText = `(${columns.join()})`;
  const compared = (operator: string, { time, id }: PagePosition): Condition =>
    columns.length === 1
      ? [`${columns[0]} ${operator} ?`, id]
      : [`${columnsText} ${operator} (?, ?)`, time!, id];
  return [
    ...(after === undefined ? [] : [compared(later!, after)]),
    ...(last === undefined ? [] : [compared(upTo!, last)]),
  ];
}

/** Returns the position of the last row that a turn reads; undefined if fewer rows are left. */
export function endOfTurn(
  session: Session,
  walk: Walk,
  after: PagePosition | undefined,
): PagePosition | undefined {
  const { columns, index, range, rowsPerTurn } = walk;
  const conditions = [...range, ...between(walk, after, undefined)];
  const sql = `SELECT ${columns.join()} FROM ${index} WHERE ${sqlOf(conditions)} ${orderOf(walk)} LIMIT 1 OFFSET ?`;
  const [row] = session.query(sql, [...valuesOf(conditions), rowsPerTurn - 1]);
  if (row === undefined) return undefined;
  const id = row.at(-1) as OrderId;
  return columns.length === 1 ? { id } : { time: row[0] as bigint, id };
}

export function orderOf({ columns, direction }: Walk): string {
  return `ORDER BY ${columns.map((column) => `${column} ${direction}`).join(', ')}`;
}

export function sqlOf(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? 'true' : conditions.map(([sql]) => sql).join(' AND ');
}

export function valuesOf(conditions: readonly Condition[]): Value[] {
  return conditions.flatMap(([, ...values]) => values);
}
