import type { Position } from '../../protocol/history.ts';
import { INT64_MAX, type OrderId, type OrderRecord, type OrderStatus } from '../domain/order.ts';
import type { OrderFilter, Sort } from './order-filter.ts';

/** What orders are sorted by before their ids: nothing, a time in milliseconds since the epoch and a revision, or a reference. */
export type SortKey = readonly (bigint | string)[];

/** A place in the sort order; no order needs to be there. */
export interface PagePlace {
  readonly sortKey: SortKey;
  readonly id: OrderId;
}

/** The ship date by which the index sorts an order without one. Such orders come last, in descending order too. */
export const UNDATED = INT64_MAX;

/** Whether a walk has two parts: orders without a ship date come last, although in descending order the index has them first. */
export function hasUndatedLast({ filter, sort, isDescending }: Omit<PageQuery, 'limit'>): boolean {
  const { shipDateFrom, shipDateBefore } = filter;
  const isDated = shipDateFrom !== undefined || shipDateBefore !== undefined;
  return sort === 'shipDate' && isDescending && !isDated;
}

export interface PageQuery {
  readonly filter: OrderFilter;
  /** By id if undefined. */
  readonly sort?: Sort | undefined;
  readonly isDescending: boolean;
  /** The page begins after this place; undefined for the first page. */
  readonly after?: PagePlace | undefined;
  readonly limit: number;
}

/**
 * The next orders in the sort order. A page is one snapshot. It has fewer orders than its limit, or none, if few of the
 * MAX_ROWS_READ rows that one request may read match the filter.
 */
export interface OrderPage {
  readonly orders: readonly OrderRecord[];
  /** The place after which the next page begins; undefined only after the last order. */
  readonly next: PagePlace | undefined;
  /** Of the snapshot. */
  readonly position: Position;
}

/** How many orders match a filter, by status, in one snapshot. */
export interface OrderCounts {
  readonly orders: Readonly<Record<OrderStatus, bigint>>;
  /** False if more than MAX_ROWS_READ rows would have to be read: more orders may match than were counted. */
  readonly isExact: boolean;
  /** Of the snapshot. */
  readonly position: Position;
}

/** Maximum number of rows that one request for a page or a count may read. */
export const MAX_ROWS_READ = 50_000;

/** Returns the counters of a store for the statuses of a filter. */
export function countsOf({ statuses }: OrderFilter, counters: OrderCounts['orders']) {
  const countOf = (status: OrderStatus) =>
    statuses === undefined || statuses.includes(status) ? counters[status] : 0n;
  return {
    pending: countOf('pending'),
    shipped: countOf('shipped'),
    cancelled: countOf('cancelled'),
  };
}

export function placeOf(order: OrderRecord, sort: Sort): PagePlace {
  return { sortKey: SORT_KEYS[sort](order), id: order.id };
}

const SORT_KEYS: Readonly<Record<Sort, (order: OrderRecord) => SortKey>> = {
  id: () => [],
  placedAt: ({ placedAt }) => [BigInt(placedAt)],
  updatedAt: ({ updatedAt, revision }) => [BigInt(updatedAt), revision],
  shipDate: ({ shipDate }) => [shipDate === undefined ? UNDATED : BigInt(shipDate)],
  reference: ({ reference }) => [reference!],
};
