import { isSamePosition } from '../../../protocol/history.ts';
import type { OrderRecord, OrderStatus } from '../../domain/order.ts';
import { narrowestSort } from '../order-filter.ts';
import {
  countsOf,
  MAX_ROWS_READ,
  type OrderPage,
  type PagePlace,
  type PageQuery,
  placeOf,
} from '../pages.ts';
import type { Store } from '../store.ts';
import { RECORD_WIDTH, recordFromRow } from '../tables/orders.ts';
import type { Row, StoreReads } from '../tables/session.ts';
import { readStatus, requireStoreRow } from '../tables/store-row.ts';
import { jsonArray, type Session } from './database/session.ts';
import {
  expectServed,
  expectUsable,
  GUARD_COLUMNS,
  inSnapshot,
  ofSnapshot,
} from './database/transaction.ts';
import { readPosition } from './feed.ts';
import type { Reading, Turns } from './turns.ts';
import {
  orderBy,
  partsBetween,
  placeAfter,
  RECORD_COLUMNS,
  sqlOf,
  valuesOf,
  type Walk,
  walkOf,
} from './walk.ts';

export const readOrders: StoreReads<Store, Reading>['orders'] = async (
  { session },
  ids,
  options,
) => {
  const rows = session.query(ORDERS, [jsonArray(ids)]);
  expectUsable(requireStoreRow(rows[0]).slice(RECORD_WIDTH), options);
  // If none of the orders exists, the LEFT JOIN returns one row without an order.
  return rows.filter(([id]) => id !== null).map(recordFromRow);
};

/**
 * A part of references is compared in many turns, so those have a connection of their own, with one snapshot. If the store changes between two parts
 * of another page, the page ends after the first parts.
 */
export const readPage: StoreReads<Store, Reading>['page'] = async (reading, query) => {
  const { session, openSession, turns } = reading;
  if (query.filter.referenceContains === undefined) return pageOf(session, turns, query);
  return ofSnapshot(openSession, (own) => pageOf(own, turns, query));
};

async function pageOf(session: Session, turns: Turns, query: PageQuery): Promise<OrderPage> {
  const walk = walkOf(query);
  const orders: OrderRecord[] = [];
  let { after } = query;
  let position: OrderPage['position'] | undefined;
  for (let looked = 0; looked < MAX_ROWS_READ; looked += walk.rowsPerTurn) {
    const part = await turns.run(() =>
      readPart(session, walk, { ...query, after, limit: query.limit - orders.length }),
    );
    position ??= part.position;
    if (!isSamePosition(part.position, position)) break;
    orders.push(...part.orders);
    after = part.next;
    if (after === undefined || orders.length === query.limit) break;
  }
  return { orders, next: after, position: position! };
}

/** Uses a connection of its own, whose snapshot lasts for several turns. */
export const countMatching: StoreReads<Store, Reading>['count'] = async (reading, filter) => {
  const { session, openSession, turns } = reading;
  const sort = narrowestSort(filter);
  if (sort === undefined) {
    expectServed(session);
    const { orders, revision, head } = await readStatus(session);
    return { orders: countsOf(filter, orders), isExact: true, position: { revision, head: head! } };
  }
  return ofSnapshot(openSession, async (own) => {
    const position = await turns.run(() => readPosition(own));
    const walk = walkOf({ filter, sort, isDescending: true });
    const orders = { pending: 0n, shipped: 0n, cancelled: 0n };
    let after: PagePlace | undefined;
    let looked = 0;
    do {
      after = await turns.run(() => countPart(own, walk, after, orders));
      looked += walk.rowsPerTurn;
    } while (after !== undefined && looked < MAX_ROWS_READ);
    const isExact = after === undefined || placeAfter(own, walk, after, 1) === undefined;
    return { orders, isExact, position };
  });
};

/** Returns the next orders; reads up to `rowsPerTurn` rows. */
function readPart(session: Session, walk: Walk, { sort = 'id', after, limit }: PageQuery) {
  return inSnapshot(session, () => {
    const position = readPosition(session);
    // If all orders match, no row is read beyond the page.
    const last = walk.isSelective ? placeAfter(session, walk, after) : undefined;
    const rows: Row[] = [];
    for (const part of partsBetween(walk, after, last)) {
      const conditions = [...part.conditions, ...walk.rest];
      const sql = `SELECT ${RECORD_COLUMNS} FROM ${walk.orders} WHERE ${sqlOf(conditions)} ${orderBy(walk, part)} LIMIT ?`;
      rows.push(...session.query(sql, [...valuesOf(conditions), limit + 1 - rows.length]));
      if (rows.length > limit) break;
    }
    const orders = rows.slice(0, limit).map(recordFromRow);
    const next = rows.length > limit ? placeOf(orders.at(-1)!, sort) : last;
    return { orders, next, position };
  });
}

/** Adds the counts of the next `rowsPerTurn` rows. @returns where it has stopped; undefined at the end */
function countPart(
  session: Session,
  walk: Walk,
  after: PagePlace | undefined,
  orders: Record<OrderStatus, bigint>,
): PagePlace | undefined {
  const last = placeAfter(session, walk, after);
  for (const part of partsBetween(walk, after, last)) {
    const conditions = [...part.conditions, ...walk.rest];
    const sql = `SELECT status, count(*) FROM ${walk.orders} WHERE ${sqlOf(conditions)} GROUP BY status`;
    for (const [status, count] of session.query(sql, valuesOf(conditions))) {
      orders[status as OrderStatus] += count as bigint;
    }
  }
  return last;
}

/** In one statement with the guards, so in one snapshot. */
const ORDERS = `SELECT ${RECORD_COLUMNS}, ${GUARD_COLUMNS} FROM store
  LEFT JOIN (json_each(?) AS asked CROSS JOIN orders ON orders.id = asked.value) ON true`;
