import { ORDER_STATUSES, type OrderId } from '../../domain/order.ts';
import { dividedFilter, narrowestSort, type OrderFilter, type Sort } from '../order-filter.ts';
import {
  countsOf,
  MAX_ROWS_READ,
  type OrderCounts,
  type OrderPage,
  type PageQuery,
  placeOf,
  type SortKey,
  UNDATED,
} from '../pages.ts';
import { type Store, StoreUnavailable } from '../store.ts';
import { HEADS_NOT_COMPUTED } from '../tables/heads.ts';
import { RECORD_WIDTH, recordFromRow } from '../tables/orders.ts';
import type { StoreReads } from '../tables/session.ts';
import { expectNotMovedAway, readStatus, requireStoreRow } from '../tables/store-row.ts';
import { countContaining, readContaining } from './containing.ts';
import { arrayOf } from './database/arrays.ts';
import type { Session } from './database/session.ts';
import { expectOnPrimary, ON_STANDBY } from './database/standby.ts';
import { POSITION_COLUMNS, positionFromRow, readPosition } from './feed.ts';
import {
  filterValues,
  GIVEN,
  matching,
  placeValues,
  RECORD_COLUMNS,
  rowsRead,
  WALKS,
} from './walk.ts';

export const readOrders: StoreReads<Store, Session>['orders'] = async (session, ids, options) => {
  const rows = await session.query(ORDERS, [arrayOf(ids)]);
  const [movedTo, onStandby] = requireStoreRow(rows[0]).slice(RECORD_WIDTH);
  expectOnPrimary(onStandby);
  if (!options?.evenIfMoved) expectNotMovedAway(movedTo);
  // If none of the orders exists, the LEFT JOIN returns one row without an order.
  return rows.filter(([id]) => id !== null).map(recordFromRow);
};

/** See Store.page. One statement, so one snapshot, unless a part of references is looked for. */
export async function readPage(session: Session, query: PageQuery): Promise<OrderPage> {
  if (query.filter.referenceContains !== undefined) return readContaining(session, query);
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
  if (filter.referenceContains !== undefined) return countContaining(session, filter);
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

/** In one statement with the guard, so in one snapshot. */
const ORDERS = `SELECT found.*, store.moved_to, ${ON_STANDBY} FROM store
    LEFT JOIN (SELECT ${RECORD_COLUMNS} FROM orders WHERE id = ANY ($1::bigint[])) AS found ON true`;

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
