import type { OrderId } from '../../domain/order.ts';
import { type Comparison, dividedFilter, type Field, type Sort } from '../order-filter.ts';
import { hasUndatedLast, type PagePlace, type PageQuery, type SortKey, UNDATED } from '../pages.ts';
import { IS_LAST_EVENT, ORDER_COLUMNS } from '../tables/orders.ts';
import type { Value } from '../tables/session.ts';
import { CONTAINS_PART } from './database/connection.ts';
import type { Session } from './database/session.ts';

/** Rows of `orders` alone that are read in one turn of the event loop, which takes about a millisecond. */
const ROWS_PER_TURN = 10_000;
/** The same for rows that need others: of an index, or the event that placed the order. */
const JOINED_PER_TURN = 500;
/** The same for rows whose references are compared with a part. */
const COMPARED_PER_TURN = 1_000;

/** When an order was placed. An order that is not pending has an event before its last one. */
const PLACED_BEFORE_LAST = `iif(status = 'pending', NULL, (SELECT earlier.at FROM order_events AS latest
    CROSS JOIN order_events AS earlier ON earlier.revision = latest.previous AND earlier.order_id = orders.id
    WHERE latest.revision = orders.revision AND latest.order_id = orders.id LIMIT 1))`;
const UPDATED_AT = `(SELECT at FROM order_events WHERE revision = orders.revision AND order_id = orders.id LIMIT 1)`;
/** The columns expected by `recordFromRow`, of an order in `orders`. The events of one revision all have the same time. */
export const RECORD_COLUMNS = `${ORDER_COLUMNS}, orders.revision, ${UPDATED_AT}, ${PLACED_BEFORE_LAST}`;
const PLACED_AT = `coalesce(${PLACED_BEFORE_LAST}, ${UPDATED_AT})`;

type Condition = readonly [sql: string, ...values: readonly Value[]];

/** The rows that a query reads, in the order of an index. */
export interface Walk {
  /** The rows of the index. */
  readonly index: string;
  /** The same rows, with their orders. */
  readonly orders: string;
  /** The columns of a place: those of its sort key, and the id. */
  readonly columns: readonly string[];
  readonly direction: 'ASC' | 'DESC';
  /** The conditions on the rows of the index, except those on the first column. */
  readonly range: readonly Condition[];
  /** Which values of the first column are read, one segment after the other. */
  readonly segments: readonly Segment[];
  /** Which of these rows match. */
  readonly rest: readonly Condition[];
  /** Whether rows are read that do not match. */
  readonly isSelective: boolean;
  readonly rowsPerTurn: number;
}

type Key = bigint | string;

/** A range of values; undefined without a bound. */
interface Segment {
  /** Inclusive. */
  readonly from?: Key | undefined;
  /** Exclusive. */
  readonly before?: Key | undefined;
}

const SHIP_DATE = `coalesce(ship_date, ${UNDATED})`;
const BY_SHIP_DATE = 'orders INDEXED BY orders_by_ship_date';
const BY_PLACED = 'order_events AS placed INDEXED BY order_events_placed';
/** The last event of each revision is found by its time, and leads to the others, which have the same time. */
const BY_UPDATED = `order_events AS last INDEXED BY revisions_by_time
  CROSS JOIN order_events AS changed ON changed.revision = last.revision`;
const BY_REFERENCE = 'orders INDEXED BY orders_by_reference';

const INDEXES: Readonly<Record<Sort, Pick<Walk, 'index' | 'orders' | 'columns'>>> = {
  id: { index: 'orders', orders: 'orders', columns: ['id'] },
  placedAt: {
    index: BY_PLACED,
    orders: `${BY_PLACED} CROSS JOIN orders ON orders.id = placed.order_id`,
    columns: ['placed.at', 'placed.order_id'],
  },
  updatedAt: {
    index: BY_UPDATED,
    orders: `${BY_UPDATED} CROSS JOIN orders ON ${IS_LAST_EVENT}`,
    columns: ['last.at', 'last.revision', 'changed.order_id'],
  },
  shipDate: { index: BY_SHIP_DATE, orders: BY_SHIP_DATE, columns: [SHIP_DATE, 'id'] },
  reference: { index: BY_REFERENCE, orders: BY_REFERENCE, columns: ['reference', 'id'] },
};

/** What the fields are compared with in rows of another index; "+" keeps the planner from using their own. */
const COLUMNS: Readonly<Record<Field, string>> = {
  ...{ status: 'status', petId: 'pet_id', reference: '+reference', shipDate: 'ship_date' },
  ...{ placedAt: PLACED_AT, updatedAt: UPDATED_AT },
};

export function walkOf({ filter, sort = 'id', isDescending }: Omit<PageQuery, 'limit'>): Walk {
  const { range, rest, isSelective } = dividedFilter(filter, sort);
  const isJoined = rest.some(({ field }) => field === 'placedAt' || field === 'updatedAt');
  const isPart = rest.some(({ sign }) => sign === 'CONTAINS');
  const most = isPart ? COMPARED_PER_TURN : ROWS_PER_TURN;
  const boundOf = (sign: string) => range.find((each) => each.sign === sign)?.value as Key;
  const [from, before] = [boundOf('>='), boundOf('<')];
  const isDated = sort === 'shipDate' && from !== undefined;
  return {
    ...INDEXES[sort],
    direction: isDescending ? 'DESC' : 'ASC',
    range: sort === 'id' ? namedBy(range) : ROWS_OF[sort],
    segments: hasUndatedLast({ filter, sort, isDescending })
      ? [{ before: UNDATED }, { from: UNDATED }]
      : [{ from, before: before ?? (isDated ? UNDATED : undefined) }],
    rest: rest.map(conditionOf),
    isSelective,
    rowsPerTurn: sort === 'id' && !isJoined ? most : JOINED_PER_TURN,
  };
}

/** The rows of an index of events that are read. */
const ROWS_OF: Readonly<Record<Exclude<Sort, 'id'>, readonly Condition[]>> = {
  placedAt: [["placed.type = 'placed'"]],
  updatedAt: [['last.head IS NOT NULL']],
  ...{ shipDate: [], reference: [] },
};

/** The conditions on the pet and the reference; the index of references finds fewer orders. */
function namedBy(range: readonly Comparison[]): Condition[] {
  const isNamed = range.some(({ field }) => field === 'reference');
  return range.map(({ field, value }) => {
    const column = field === 'reference' ? 'reference' : isNamed ? '+pet_id' : 'pet_id';
    return [`${column} = ?`, value as Key];
  });
}

function conditionOf({ field, sign, value }: Comparison): Condition {
  if (sign === 'CONTAINS') return [`${CONTAINS_PART}(reference, ?)`, value as string];
  if (typeof value !== 'object') return [[COLUMNS[field], sign, '?'].join(' '), value];
  return [`${COLUMNS[field]} IN (${value.map(() => '?').join()})`, ...value];
}

function within(column: string, { from, before }: Segment): Condition[] {
  return [
    ...(from === undefined ? [] : [[`${column} >= ?`, from] as const]),
    ...(before === undefined ? [] : [[`${column} < ?`, before] as const]),
  ];
}

/** A part of a walk: which rows it has, and the columns that they are sorted by. */
interface Part {
  readonly conditions: readonly Condition[];
  readonly sortedBy: readonly string[];
}

/**
 * Returns the rows after a place, up to and including another, as parts, one after the other. SQLite does not seek an index on an expression by
 * (time, id) > (?, ?), and of two bounds it uses one only. So the rows with the first value of a place are parts of their own, sorted by the
 * other columns.
 */
export function partsBetween(
  walk: Walk,
  after: PagePlace | undefined,
  last: PagePlace | undefined,
): Part[] {
  const { segments } = walk;
  const [begin, end] = [keysOf(after), keysOf(last)];
  const segmentOf = (key: Key) => segments.findIndex((segment) => sideOf(segment, key) === 0);
  const first = begin === undefined ? 0 : Math.max(0, segmentOf(begin[0]!));
  const final = end === undefined ? segments.length - 1 : Math.max(0, segmentOf(end[0]!));
  return segments.slice(first, final + 1).flatMap((segment, index, { length }) => {
    const from = index === 0 ? begin : undefined;
    const to = index === length - 1 ? end : undefined;
    // A place can be outside of the segment, since cursors are not signed.
    const sides = [from, to].map((keys) => (keys === undefined ? 0 : sideOf(segment, keys[0]!)));
    const [side, sideOfEnd] = walk.direction === 'ASC' ? sides : sides.map((each) => -each);
    if (side === 1 || sideOfEnd === -1) return [];
    return partsOf(
      { ...walk, segment },
      side === 0 ? from : undefined,
      sideOfEnd === 0 ? to : undefined,
    );
  });
}

/** Returns the values of the columns at a place. */
function keysOf(place: PagePlace | undefined): readonly Key[] | undefined {
  return place && [...place.sortKey, place.id];
}

/** Whether a value is lower than those of a segment, within it, or higher. */
function sideOf({ from, before }: Segment, key: Key): -1 | 0 | 1 {
  if (from !== undefined && compare(key, from) < 0) return -1;
  return before === undefined || compare(key, before) < 0 ? 0 : 1;
}

/** Compares as SQLite does: texts by their bytes in UTF-8. */
function compare(one: Key, other: Key): number {
  if (typeof one === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(String(other)));
  return one < (other as bigint) ? -1 : one === other ? 0 : 1;
}

/** Returns the rows of a segment after a place, exclusive, up to another, inclusive. */
function partsOf(
  walk: Pick<Walk, 'columns' | 'direction' | 'range'> & { readonly segment: Segment },
  after: readonly Key[] | undefined,
  last: readonly Key[] | undefined,
): Part[] {
  const { columns, direction, range, segment } = walk;
  const [column, ...others] = columns;
  const [later, notLater, earlier] = direction === 'ASC' ? ['>', '<=', '<'] : ['<', '>=', '>'];
  const bound = (sign: string, keys: readonly Key[] | undefined): Condition[] =>
    keys === undefined ? [] : [[`${column} ${sign} ?`, keys[0]!]];
  if (others.length === 0) {
    const conditions = [...range, ...bound(later, after), ...bound(notLater, last)];
    return [{ conditions, sortedBy: columns }];
  }
  /** The rows with the first value of a place. */
  const partsAt = (
    keys: readonly Key[] | undefined,
    from?: readonly Key[],
    to?: readonly Key[],
  ) => {
    if (keys === undefined) return [];
    const condition: Condition = [`${column} = ?`, keys[0]!];
    const walk = { columns: others, direction, range: [...range, condition], segment: {} };
    return partsOf(walk, from?.slice(1), to?.slice(1));
  };
  if (after !== undefined && after[0] === last?.[0]) return partsAt(after, after, last);
  const [lower, upper] = direction === 'ASC' ? [after, last] : [last, after];
  const between: Part = {
    conditions: [
      ...range,
      ...bound(later, after),
      ...bound(earlier, last),
      ...within(column!, {
        from: lower === undefined ? segment.from : undefined,
        before: upper === undefined ? segment.before : undefined,
      }),
    ],
    sortedBy: columns,
  };
  return [...partsAt(after, after), between, ...partsAt(last, undefined, last)];
}

/** Returns the place of the row with a number, from 1, after a place: by default the last one that a turn reads. Undefined if fewer rows are left. */
export function placeAfter(
  session: Session,
  walk: Walk,
  after: PagePlace | undefined,
  number = walk.rowsPerTurn,
): PagePlace | undefined {
  const { columns, index } = walk;
  let left = number;
  for (const part of partsBetween(walk, after, undefined)) {
    const from = `FROM ${index} WHERE ${sqlOf(part.conditions)} ${orderBy(walk, part)}`;
    const values = valuesOf(part.conditions);
    const sql = `SELECT ${columns.join()} ${from} LIMIT 1 OFFSET ?`;
    const [row] = session.query(sql, [...values, left - 1]);
    if (row !== undefined) {
      return { sortKey: row.slice(0, -1) as SortKey, id: row.at(-1) as OrderId };
    }
    const counted = `SELECT count(*) FROM (SELECT 1 ${from} LIMIT ?)`;
    left -= Number(session.query(counted, [...values, left])[0]![0]);
  }
  return undefined;
}

export function orderBy({ direction }: Walk, { sortedBy }: Part): string {
  return `ORDER BY ${sortedBy.map((column) => `${column} ${direction}`).join(', ')}`;
}

export function sqlOf(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? 'true' : conditions.map(([sql]) => sql).join(' AND ');
}

export function valuesOf(conditions: readonly Condition[]): Value[] {
  return conditions.flatMap(([, ...values]) => values);
}
