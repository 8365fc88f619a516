import type { Activity, Change, OrderHistory, OrderRecord, Summary } from '@store-orders/client';
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
  /** Ids of orders that match the filters since the list was read, and are not in it. */
  newer: Set<bigint>;
  /** Changes that arrived while a page was read; they are applied to it. */
  waiting: Change[];
  summary: Summary | undefined;
  /** Undefined unless the view shows it. */
  activity: ActivityState | undefined;
  /** off: the key may not read changes. */
  live: 'starting' | 'live' | 'lost' | 'off';
  selected: Set<bigint>;
  /** What became of the orders that were last acted upon, by id. */
  results: Map<bigint, string>;
  isActing: boolean;
  /** What became of all orders that were last acted upon. */
  outcome: string | undefined;
  detail: Detail | undefined;
}

/** The order whose details are open. */
export interface Detail {
  readonly id: bigint;
  readonly order: TaggedOrder | undefined;
  readonly events: OrderHistory['events'];
  readonly problem: string | undefined;
}

/** What happened on each of the last days. */
export interface ActivityState {
  /** One of DAY_COUNTS. */
  readonly days: number;
  /** What was counted last; undefined before. */
  readonly found: Activity | undefined;
  /** Ends the count that is under way; undefined if none is. */
  readonly reading: AbortController | undefined;
  /** Changes that arrived while it was read. */
  readonly waiting: Change[];
  readonly problem: string | undefined;
}

export function initialState(view: View): State {
  return {
    session: undefined,
    signInProblem: undefined,
    isSigningIn: false,
    view,
    orders: [],
    next: undefined,
    isLoading: false,
    problem: undefined,
    newer: new Set(),
    waiting: [],
    outcome: undefined,
    summary: undefined,
    activity: undefined,
    live: 'starting',
    selected: new Set(),
    results: new Map(),
    isActing: false,
    detail: undefined,
  };
}

/** Returns the orders shown that can be selected, and whether all of them are. */
export function selectable({ orders, selected }: State) {
  const pending = orders.filter(({ status }) => status === 'pending');
  return { pending, isAll: pending.length > 0 && pending.every(({ id }) => selected.has(id)) };
}

/** Applies changes to what is shown: rows change in place, and orders that come to match are counted. */
export function applyChanges(
  state: State,
  changes: readonly Change[],
  isShown: (order: OrderRecord) => boolean,
): void {
  if (state.isLoading) {
    state.waiting.push(...changes);
    return;
  }
  for (const { order } of changes) {
    const { id, status, revision } = order;
    if (status !== 'pending') state.selected.delete(id);
    const index = state.orders.findIndex((each) => each.id === id);
    const shown = state.orders[index];
    // The page may have been read after this change.
    if (shown !== undefined && shown.revision < revision) state.orders[index] = order;
    if (shown === undefined && isShown(order) && isAbove(state, id)) state.newer.add(id);
    else state.newer.delete(id);
  }
}

/** Whether an order would be among those that are shown, and not on a later page. */
function isAbove({ orders, next }: State, id: bigint): boolean {
  return next === undefined || id > orders.at(-1)!.id;
}

/** Adds a page to the list, with the changes that arrived while it was read. */
export function addPage(
  state: State,
  { orders, next }: { readonly orders: readonly OrderRecord[]; readonly next?: string },
  isShown: (order: OrderRecord) => boolean,
): void {
  state.orders.push(...orders);
  state.next = next;
  endLoading(state, isShown);
}

/** Applies the changes that arrived while a page was read. */
export function endLoading(state: State, isShown: (order: OrderRecord) => boolean): void {
  const { waiting } = state;
  Object.assign(state, { isLoading: false, waiting: [] });
  applyChanges(state, waiting, isShown);
}
