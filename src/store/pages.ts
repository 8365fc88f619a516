import type { OrderChange } from '../orders/change.ts';
import type { OrderEventType } from '../orders/lifecycle.ts';
import type { OrderId, OrderRecord, OrderStatus } from '../orders/order.ts';

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

/** The last event of a revision: what identifies the history that leads to it. */
export interface LastEvent {
  readonly orderId: OrderId;
  readonly type: OrderEventType;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly by: string | undefined;
}

/** A place in the feed of changes: behind all events of a revision. */
export interface FeedPosition {
  readonly storeId: string;
  readonly revision: bigint;
  /** Undefined at revision 0. */
  readonly last: LastEvent | undefined;
}

/** Whole revisions of the feed, in order of revision, then order id. */
export interface ChangePage {
  readonly changes: readonly OrderChange[];
  /** Behind the last change. */
  readonly position: FeedPosition;
  /** Whether there were further changes. */
  readonly isMore: boolean;
  /** Behind everything in the store. */
  readonly now: FeedPosition;
}

/** Maximum `limit` of Store.feed. */
export const MAX_CHANGES = 500;

/** Rows that one request for a page may look at. */
export const MAX_ROWS_LOOKED_AT = 50_000;

/**
 * Cuts off the last revision of `changes`, unless it is the only one: there may be more of it than was read.
 * @returns the changes of whole revisions; empty if all belong to one revision
 */
export function wholeRevisions(changes: readonly OrderChange[]): readonly OrderChange[] {
  const lastRevision = changes.at(-1)?.order.revision;
  const end = changes.findIndex(({ order }) => order.revision === lastRevision);
  return changes.slice(0, Math.max(end, 0));
}

/** Returns the position behind changes that end with the last event of a revision. */
export function positionBehind(storeId: string, changes: readonly OrderChange[]): FeedPosition {
  const { type, by, order } = changes.at(-1)!;
  const last = { orderId: order.id, type, at: order.updatedAt, by };
  return { storeId, revision: order.revision, last };
}
