import type { Position } from '../../protocol/history.ts';
import { INT64_MAX, type OrderId, type OrderRecord, type OrderStatus } from '../domain/order.ts';

/** Conditions that all must hold; absent ones hold for every order. */
export interface OrderFilter {
  readonly statuses?: readonly OrderStatus[] | undefined;
  readonly petId?: bigint | undefined;
  readonly reference?: string | undefined;
  /** Milliseconds since the epoch, inclusive. */
  readonly shipDateFrom?: number | undefined;
  /** Milliseconds since the epoch, exclusive. */
  readonly shipDateBefore?: number | undefined;
  /** Milliseconds since the epoch, inclusive. */
  readonly placedFrom?: number | undefined;
  /** Milliseconds since the epoch, exclusive. */
  readonly placedBefore?: number | undefined;
}

/** What orders can be sorted by, each with an index. Orders with the same time are sorted by id. */
export const SORTS = ['id', 'placedAt', 'shipDate'] as const;
export type Sort = (typeof SORTS)[number];

/** A place in the sort order; no order needs to be there. */
export interface PagePlace {
  /** Milliseconds since the epoch, UNDATED for an order without a ship date; undefined if orders are sorted by id. */
  readonly time?: bigint | undefined;
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
  /** False if more than MAX_ROWS_COUNTED rows would have to be read: more orders may match than were counted. */
  readonly isExact: boolean;
  /** Of the snapshot. */
  readonly position: Position;
}

/** Pages, of orders or changes, that are read or wait to be read at the same time. */
export const MAX_PAGES_AT_ONCE = 200;

/** Maximum number of rows that one request for a page may read. */
export const MAX_ROWS_READ = 50_000;

/** Maximum number of rows that one count may read. */
export const MAX_ROWS_COUNTED = MAX_ROWS_READ;

/**
 * Divides a filter into conditions that select a range of the index and conditions on its rows. Without the latter, every row that is read
 * matches.
 */
export function dividedFilter(
  { statuses, petId, reference, ...times }: OrderFilter,
  sort: Sort,
): { readonly range: OrderFilter; readonly rest: OrderFilter; readonly isSelective: boolean } {
  const { shipDateFrom, shipDateBefore, placedFrom, placedBefore } = times;
  const [named, ships] = [
    { petId, reference },
    { shipDateFrom, shipDateBefore },
  ];
  const placed = { placedFrom, placedBefore };
  const range = { id: named, shipDate: ships, placedAt: placed }[sort];
  const rest = {
    statuses,
    ...(sort !== 'id' && named),
    ...(sort !== 'shipDate' && ships),
    ...(sort !== 'placedAt' && placed),
  };
  return { range, rest, isSelective: Object.values(rest).some((each) => each !== undefined) };
}

/**
 * Returns the sort order whose index reads the fewest rows for a filter, by a rule of thumb; undefined if the filter has no condition except on
 * the status, which the counters answer.
 */
export function narrowestSort(filter: OrderFilter): Sort | undefined {
  const { petId, reference, shipDateFrom, shipDateBefore, placedFrom, placedBefore } = filter;
  if (petId !== undefined || reference !== undefined) return 'id';
  if (shipDateFrom !== undefined || shipDateBefore !== undefined) return 'shipDate';
  return placedFrom !== undefined || placedBefore !== undefined ? 'placedAt' : undefined;
}

/** Returns the counters of a store for the statuses of a filter. */
export function countsOf(
  { statuses }: OrderFilter,
  counters: OrderCounts['orders'],
): OrderCounts['orders'] {
  const countOf = (status: OrderStatus) =>
    statuses === undefined || statuses.includes(status) ? counters[status] : 0n;
  return {
    pending: countOf('pending'),
    shipped: countOf('shipped'),
    cancelled: countOf('cancelled'),
  };
}

/** Returns the place of an order. */
export function placeOf({ id, shipDate, placedAt }: OrderRecord, sort: Sort): PagePlace {
  if (sort === 'id') return { id };
  if (sort === 'placedAt') return { time: BigInt(placedAt), id };
  return { time: shipDate === undefined ? UNDATED : BigInt(shipDate), id };
}
