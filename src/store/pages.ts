import type { Moment } from '../orders/heads.ts';
import type { OrderId, OrderRecord, OrderStatus } from '../orders/order.ts';

/** Conditions that all must hold; absent ones hold for every order. */
export interface OrderFilter {
  readonly statuses?: readonly OrderStatus[] | undefined;
  readonly petId?: bigint | undefined;
  readonly reference?: string | undefined;
  /** Milliseconds since the epoch, inclusive. */
  readonly shipDateFrom?: number | undefined;
  /** Milliseconds since the epoch, exclusive. */
  readonly shipDateBefore?: number | undefined;
}

export interface PageQuery {
  readonly filter: OrderFilter;
  readonly isDescending: boolean;
  /** The page begins after this id, which need not exist; undefined for the first page. */
  readonly after?: OrderId | undefined;
  readonly limit: number;
}

/**
 * The next orders in order of id. A page is one snapshot. It has fewer orders than its limit, or none, if few of the
 * MAX_ROWS_READ rows that one request may read match the filter.
 */
export interface OrderPage {
  readonly orders: readonly OrderRecord[];
  /** The id after which the next page begins; undefined only after the last order. */
  readonly next: OrderId | undefined;
  /** Of the snapshot. */
  readonly position: Moment;
}

/** Pages, of orders or changes, that are read or wait to be read at the same time. */
export const MAX_PAGES_AT_ONCE = 200;

/** Maximum number of rows that one request for a page may read. */
export const MAX_ROWS_READ = 50_000;

/** Returns whether rows may be read that do not match. A filter by pet or by reference alone uses an index, and reads only
 * matching rows. */
export function isSelective({ statuses, shipDateFrom, shipDateBefore }: OrderFilter): boolean {
  return statuses !== undefined || shipDateFrom !== undefined || shipDateBefore !== undefined;
}
