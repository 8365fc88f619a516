import type { OrderId, OrderRecord, OrderStatus } from '../orders/order.ts';
import type { FeedPosition } from './feed.ts';

/** Conditions that all must hold; absent ones hold for every order. */
export interface OrderFilter {
  readonly statuses?: readonly OrderStatus[] | undefined;
  readonly petId?: bigint | undefined;
  /** Milliseconds since the epoch, inclusive. */
  readonly shipDateFrom?: number | undefined;
  /** Milliseconds since the epoch, exclusive. */
  readonly shipDateBefore?: number | undefined;
}

export interface PageQuery {
  readonly filter: OrderFilter;
  readonly isDescending: boolean;
  /** The page begins behind this id, which need not exist; undefined for the first page. */
  readonly after?: OrderId | undefined;
  readonly limit: number;
}

/**
 * The next orders of a walk by id. A page is one snapshot. It ends early, or is empty, where a filter has matched
 * little in as many rows as one request may look at.
 */
export interface OrderPage {
  readonly orders: readonly OrderRecord[];
  /** The id behind which the next page begins; undefined at the end of the walk only. */
  readonly next: OrderId | undefined;
  /** Of the snapshot. */
  readonly position: FeedPosition;
}

/** Pages, of orders or changes, that are read or wait to be read at the same time. */
export const MAX_PAGES_AT_ONCE = 200;

/** Rows that one request for a page may look at. */
export const MAX_ROWS_LOOKED_AT = 50_000;

/** Returns whether there may be rows to look at that do not match; those of other pets are not looked at. */
export function isSelective({ statuses, shipDateFrom, shipDateBefore }: OrderFilter): boolean {
  return statuses !== undefined || shipDateFrom !== undefined || shipDateBefore !== undefined;
}
