import type { Change, OrderHistory, OrderRecord, Summary } from '@store-orders/client';
import type { View } from './query.ts';
import type { Session } from './session.ts';

export type TaggedOrder = OrderRecord & { readonly etag?: string };

/** Everything that the page shows. */
export interface State {
  session: Session | undefined;
  /** Why signing in failed, or why the session ended. */
  signInProblem: string | undefined;
  isSigningIn: boolean;
  view: View;
  /** Newest first; rows stay where they are when they change. */
  orders: TaggedOrder[];
  /** The cursor of the next page; undefined at the end. */
  next: string | undefined;
  isLoading: boolean;
  problem: string | undefined;
  /** Orders that were placed since the list was read, and match its filters. */
  newer: number;
  summary: Summary | undefined;
  /** off: the key may not read changes. */
  live: 'starting' | 'live' | 'lost' | 'off';
  selected: Set<bigint>;
  /** What became of the orders that were last acted upon, by id. */
  results: Map<bigint, string>;
  isActing: boolean;
  detail: Detail | undefined;
}

/** The order whose details are open. */
export interface Detail {
  readonly id: bigint;
  readonly order: TaggedOrder | undefined;
  readonly events: OrderHistory['events'];
  readonly problem: string | undefined;
}

export function initialState(view: View): State {
  return {
    ...{ session: undefined, signInProblem: undefined, isSigningIn: false, view },
    ...{ orders: [], next: undefined, isLoading: false, problem: undefined, newer: 0 },
    ...{ summary: undefined, live: 'starting', selected: new Set(), results: new Map() },
    ...{ isActing: false, detail: undefined },
  };
}

/** Applies changes to what is shown: rows change in place, and orders that are not among them are counted. */
export function applyChanges(
  state: State,
  changes: readonly Change[],
  isShown: (order: OrderRecord) => boolean,
): void {
  for (const { type, order } of changes) {
    const index = state.orders.findIndex(({ id }) => id === order.id);
    const shown = state.orders[index];
    // The page may have read the order later than this change was made.
    if (shown !== undefined && shown.revision <= order.revision) state.orders[index] = order;
    else if (shown === undefined && type === 'placed' && isShown(order)) state.newer += 1;
  }
}
