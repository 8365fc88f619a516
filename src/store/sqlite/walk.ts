import { INT64_MAX, INT64_MIN, type OrderId } from '../../domain/order.ts';
import {
  dividedFilter,
  hasUndatedLast,
  type OrderFilter,
  type PagePlace,
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
  /** The columns of the position: an id, or a time and an id. */
  readonly columns: readonly string[];
  readonly direction: 'ASC' | 'DESC';
  /** The conditions on the rows of the index, except the times. */
  readonly range: readonly Condition[];
  /** The first and the last time that are read, in each of its segments. */
  readonly segments: readonly Times[];
  /** Which of these rows match. */
  readonly rest: readonly Condition[];
  /** Whether rows are read that do not match. */
  readonly isSelective: boolean;
  readonly rowsPerTurn: number;
}

/** Both inclusive. */
interface Times {
  readonly low: bigint;
  readonly high: bigint;
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
    segments: segmentsOf(timeRange(range, sort), hasUndatedLast({ filter, sort, isDescending })),
    rest: restOf(rest),
    isSelective,
    rowsPerTurn: sort === 'id' && !isJoined ? ROWS_PER_TURN : JOINED_PER_TURN,
  };
}

function rangeOf({ petId, reference }: OrderFilter, sort: Sort): Condition[] {
  if (sort === 'placedAt') return [["placed.type = 'placed'"]];
  const named: Condition[] = reference === undefined ? [] : [['reference = ?', reference]];
  // "+" keeps the planner from using the index of pets: the index of references finds fewer orders.
  const column = reference === undefined ? 'pet_id' : '+pet_id';
  return petId === undefined ? named : [[`${column} = ?`, petId], ...named];
}

function timeRange(filter: OrderFilter, sort: Sort): Times {
  const { shipDateFrom, shipDateBefore, placedFrom, placedBefore } = filter;
  const [from, before] =
    sort === 'placedAt' ? [placedFrom, placedBefore] : [shipDateFrom, shipDateBefore];
  const isDated = sort === 'shipDate' && from !== undefined;
  return {
    low: from === undefined ? INT64_MIN : BigInt(from),
    high: before === undefined ? (isDated ? UNDATED - 1n : INT64_MAX) : BigInt(before) - 1n,
  };
}

/** Divides times into the ship dates, and the time of orders without one, which come last. */
function segmentsOf(times: Times, isDivided: boolean): Times[] {
  if (!isDivided) return [times];
  return [
    { ...times, high: UNDATED - 1n },
    { low: UNDATED, high: UNDATED },
  ];
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

/** A part of a walk: which rows it has, and the columns that they are sorted by. */
interface Part {
  readonly conditions: readonly Condition[];
  readonly sortedBy: readonly string[];
}

/**
 * Returns the rows after a position, up to and including another, as parts, one after the other. SQLite does not seek an index on an expression
 * by (time, id) > (?, ?), and of two bounds it uses one only. So the rows with the time of a position are a part of their own, sorted by id
 * alone.
 */
export function partsBetween(
  walk: Walk,
  after: PagePlace | undefined,
  last: PagePlace | undefined,
): Part[] {
  const { segments } = walk;
  const segmentOf = (position: PagePlace | undefined) =>
    segments.findIndex(({ low, high }) => isWithin(position?.time, low, high));
  const first = after === undefined ? 0 : Math.max(0, segmentOf(after));
  const end = last === undefined ? segments.length - 1 : Math.max(0, segmentOf(last));
  return segments.flatMap((times, index) => {
    if (index < first || index > end) return [];
    const isOnly = segments.length === 1;
    return partsOf(
      { ...walk, times },
      isOnly || index === first ? after : undefined,
      isOnly || index === end ? last : undefined,
    );
  });
}

function isWithin(time: bigint | undefined, low: bigint, high: bigint): boolean {
  return time !== undefined && time >= low && time <= high;
}

/** The parts of a segment. */
function partsOf(
  walk: Walk & { readonly times: Times },
  after: PagePlace | undefined,
  last: PagePlace | undefined,
): Part[] {
  const { columns, direction, range, times } = walk;
  const isAscending = direction === 'ASC';
  const [lower, upper] = isAscending ? [after, last] : [last, after];
  const id = columns.at(-1)!;
  const above: Condition[] =
    lower === undefined ? [] : [[`${id} ${isAscending ? '>' : '>='} ?`, lower.id]];
  const below: Condition[] =
    upper === undefined ? [] : [[`${id} ${isAscending ? '<=' : '<'} ?`, upper.id]];
  if (columns.length === 1) {
    return [{ conditions: [...range, ...above, ...below], sortedBy: columns }];
  }
  const time = columns[0]!;
  const partAt = (position: PagePlace | undefined, ...bounds: Condition[]): Part[] => {
    const moment = position?.time;
    if (moment === undefined || moment < times.low || moment > times.high) return [];
    return [{ conditions: [...range, [`${time} = ?`, moment], ...bounds], sortedBy: [id] }];
  };
  if (lower !== undefined && lower.time === upper?.time) return partAt(lower, ...above, ...below);
  const from = lower === undefined ? times.low : max(times.low, lower.time! + 1n);
  const to = upper === undefined ? times.high : min(times.high, upper.time! - 1n);
  const between: Part = { conditions: [...range, ...within(time, from, to)], sortedBy: columns };
  const parts = [
    ...partAt(lower, ...above),
    ...(from > to ? [] : [between]),
    ...partAt(upper, ...below),
  ];
  return isAscending ? parts : parts.reverse();
}

function within(column: string, from: bigint, to: bigint): Condition[] {
  return [
    ...(from === INT64_MIN ? [] : [[`${column} >= ?`, from] as const]),
    ...(to === INT64_MAX ? [] : [[`${column} <= ?`, to] as const]),
  ];
}

const max = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const min = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** Returns the position of the last row that a turn reads; undefined if fewer rows are left. */
export function endOfTurn(
  session: Session,
  walk: Walk,
  after: PagePlace | undefined,
): PagePlace | undefined {
  return positionAt(session, walk, after, walk.rowsPerTurn);
}

/** Whether there are rows after a position. */
export function isMore(session: Session, walk: Walk, after: PagePlace): boolean {
  return positionAt(session, walk, after, 1) !== undefined;
}

/** Returns the position of the row with a number, from 1, after a position. */
function positionAt(
  session: Session,
  walk: Walk,
  after: PagePlace | undefined,
  number: number,
): PagePlace | undefined {
  const { columns, index } = walk;
  let left = number;
  for (const part of partsBetween(walk, after, undefined)) {
    const from = `FROM ${index} WHERE ${sqlOf(part.conditions)} ${orderOf(walk, part)}`;
    const values = valuesOf(part.conditions);
    const sql = `SELECT ${columns.join()} ${from} LIMIT 1 OFFSET ?`;
    const [row] = session.query(sql, [...values, left - 1]);
    if (row !== undefined) {
      const id = row.at(-1) as OrderId;
      return columns.length === 1 ? { id } : { time: row[0] as bigint, id };
    }
    const [count] = session.query(`SELECT count(*) FROM (SELECT 1 ${from} LIMIT ?)`, [
      ...values,
      left,
    ]);
    left -= Number(count![0]);
  }
  return undefined;
}

export function orderOf({ direction }: Walk, { sortedBy }: Part): string {
  return `ORDER BY ${sortedBy.map((column) => `${column} ${direction}`).join(', ')}`;
}

export function sqlOf(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? 'true' : conditions.map(([sql]) => sql).join(' AND ');
}

export function valuesOf(conditions: readonly Condition[]): Value[] {
  return conditions.flatMap(([, ...values]) => values);
}
