import { setImmediate as nextTurn } from 'node:timers/promises';
import { caseless, containsPart } from '../../../protocol/caseless.ts';
import { byId, type OrderId, type OrderStatus } from '../../domain/order.ts';
import { dividedFilter, narrowestSort, type OrderFilter } from '../order-filter.ts';
import { MAX_ROWS_READ, type OrderCounts, type OrderPage, type PageQuery } from '../pages.ts';
import { RECORD_WIDTH, recordFromRow } from '../tables/orders.ts';
import { requireStoreRow } from '../tables/store-row.ts';
import { arrayOf } from './database/arrays.ts';
import type { Session } from './database/session.ts';
import { POSITION_COLUMNS, positionFromRow, readPosition } from './feed.ts';
import {
  AFTER_FILTER,
  filterValues,
  GIVEN,
  matching,
  placeValues,
  RECORD_COLUMNS,
  rowsRead,
  UNDECIDED,
  within,
} from './walk.ts';

/** Rows that one statement reads, of the MAX_ROWS_READ of a page: most pages are full after the first ones. */
const ROWS_PER_STATEMENT = 10_000;
/** References that are compared in one turn of the event loop, which takes about two milliseconds. */
const PER_TURN = 1_000;

/** An id or a status, and the reference if SQL cannot decide whether it has the part. */
type Candidate = readonly [name: string, reference: string | null, orders: number];

/**
 * Returns a page of the orders whose references contain a part, by id. Which orders match is found by reading ids and references, in several
 * snapshots: neither ever changes. The page itself is one snapshot, of these orders and of all that were changed or placed since the first one.
 */
export async function readContaining(session: Session, query: PageQuery): Promise<OrderPage> {
  const { filter, isDescending, after, limit } = query;
  const { revision } = await readPosition(session);
  const found: OrderId[] = [];
  let place = after;
  let isAtEnd = false;
  for (let looked = 0; looked < MAX_ROWS_READ; looked += ROWS_PER_STATEMENT) {
    const values = [...placeValues('id', place), ...filterValues(filter)];
    const statement = candidatesStatement({ ...query, after: place });
    const [row] = await session.query(statement, [ROWS_PER_STATEMENT, null, ...values]);
    const [rows, last, candidates] = row!;
    for (const [id] of await containing(candidates as string, filter)) found.push(BigInt(id));
    isAtEnd = Number(rows) < ROWS_PER_STATEMENT;
    if (isAtEnd || found.length > limit) break;
    place = { sortKey: [], id: last as OrderId };
  }
  const named = found.slice(0, limit + 1);
  if (found.length > limit) place = { sortKey: [], id: named.at(-1)! };
  const end = isAtEnd && found.length <= limit ? undefined : place;

  const values = [...placeValues('id', undefined), ...filterValues(filter)];
  const rows = await session.query(pageStatement(query), [
    MAX_ROWS_READ,
    null,
    ...values,
    arrayOf(named),
    revision,
  ]);
  const part = caseless(filter.referenceContains!);
  const isBehind = (id: OrderId, other: OrderId) => (isDescending ? id < other : id > other);
  const ascending = rows
    .filter(([id]) => id !== null)
    .map(recordFromRow)
    .filter(({ id, reference }) => {
      const isWithin = after === undefined || isBehind(id, after.id);
      const isBeyond = end !== undefined && isBehind(id, end.id);
      return isWithin && !isBeyond && containsPart(reference, part);
    })
    .sort(byId);
  const orders = isDescending ? ascending.reverse() : ascending;
  const page = orders.slice(0, limit);
  return {
    orders: page,
    next: orders.length > limit ? { sortKey: [], id: page.at(-1)!.id } : end,
    position: positionFromRow(requireStoreRow(rows[0]).slice(RECORD_WIDTH)),
  };
}

/** Returns the counts of the orders whose references contain a part. One statement, so one snapshot. */
export async function countContaining(session: Session, filter: OrderFilter): Promise<OrderCounts> {
  const sort = narrowestSort(filter)!;
  const values = [...placeValues(sort, undefined), ...filterValues(filter)];
  const walk = { filter, sort, isDescending: true };
  const [row] = await session.query(countStatement(walk), [MAX_ROWS_READ + 1, null, ...values]);
  const [looked, candidates, ...position] = requireStoreRow(row);
  const orders = { pending: 0n, shipped: 0n, cancelled: 0n };
  for (const [status, , count] of await containing(candidates as string, filter))
    orders[status as OrderStatus] += BigInt(count);
  return { orders, isExact: Number(looked) <= MAX_ROWS_READ, position: positionFromRow(position) };
}

/** Returns those candidates that contain the part of a filter. @param json the candidates */
async function containing(json: string, filter: OrderFilter): Promise<Candidate[]> {
  const part = caseless(filter.referenceContains!);
  const found: Candidate[] = [];
  for (const [index, each] of (JSON.parse(json) as Candidate[]).entries()) {
    if (index % PER_TURN === PER_TURN - 1) await nextTurn();
    const [, reference] = each;
    if (reference === null || containsPart(reference, part)) found.push(each);
  }
  return found;
}

/** How many rows were read, the last id of them, and the candidates as JSON, which has an id as text. */
function candidatesStatement(query: PageQuery): string {
  const [direction, last] = query.isDescending ? ['DESC', 'min'] : ['ASC', 'max'];
  return `WITH ${GIVEN}, looked AS MATERIALIZED (${rowsRead(query)})
      SELECT count(*), ${last}(id), coalesce((SELECT json_agg(json_build_array(id::text, ${UNDECIDED}, 1) ORDER BY id ${direction})
        FROM looked AS orders WHERE ${matching(query)}), '[]')::text FROM looked`;
}

/** How many rows were read, and the candidates as JSON: by status where SQL decides, else with their references. */
function countStatement(walk: Omit<PageQuery, 'limit'>): string {
  return `WITH ${GIVEN}, looked AS MATERIALIZED (${rowsRead(walk)}),
      found AS (SELECT status, ${UNDECIDED} AS undecided, count(*) AS number FROM looked AS orders
        WHERE ${matching(walk)} GROUP BY 1, 2)
      SELECT (SELECT count(*) FROM looked),
        coalesce((SELECT json_agg(json_build_array(status, undecided, number)) FROM found), '[]')::text,
        ${POSITION_COLUMNS} FROM store`;
}

const [NAMED, SINCE] = [`$${AFTER_FILTER}::bigint[]`, `$${AFTER_FILTER + 1}::bigint`];

/**
 * The named orders, and those with later events, if they match. The limits make the planner look up the events by revision, from the latest on,
 * and the orders by id. $1 is far more than the events of the milliseconds since the first snapshot.
 */
function pageStatement(query: PageQuery): string {
  const { range } = dividedFilter(query.filter, 'id');
  const conditions = [...range.map((each) => within(each, 'id')), matching(query)];
  return `WITH ${GIVEN}, named AS MATERIALIZED (
      SELECT unnest(${NAMED}) AS id
      UNION (SELECT order_id FROM order_events WHERE revision > ${SINCE} ORDER BY revision DESC LIMIT $1))
    SELECT found.*, ${POSITION_COLUMNS} FROM store LEFT JOIN (
      SELECT ${RECORD_COLUMNS} FROM named
      CROSS JOIN LATERAL (SELECT * FROM orders WHERE id = named.id LIMIT 1) AS orders
      WHERE ${conditions.join(' AND ')}) AS found ON true`;
}
