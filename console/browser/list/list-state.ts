import type { Change, OrderPage, OrderRecord } from '@store-orders/client';
import { settle } from '../changing/outcome.ts';
import type { Screen } from '../screen.ts';
import type { State } from '../state.ts';
import { comesBefore, isFiltered, isShown } from './address.ts';

/** Whether the list has been read, and has no order. */
export const isEmptyList = ({ orders, next, isLoading, problem, store }: State): boolean =>
  orders.length === 0 &&
  next === undefined &&
  !isLoading &&
  problem === undefined &&
  store !== undefined;

/** Whether there is no order at all. */
export const isEmptyStore = (state: State): boolean =>
  isEmptyList(state) && state.view.statuses.length === 0 && !isFiltered(state.view);

/** Returns the orders shown that can be selected, and whether all of them are. */
export function selectable({ orders, selected }: State) {
  const pending = orders.filter(({ status }) => status === 'pending');
  return { pending, isAll: pending.length > 0 && pending.every(({ id }) => selected.has(id)) };
}

/** Shows the new state of an order, where an earlier one is shown, and what became of actions on it. */
export function showOrder(state: State, order: OrderRecord): void {
  settle(state, order);
  const isEarlier = ({ id, revision }: OrderRecord) => id === order.id && revision < order.revision;
  const { lines } = state.scans;
  if (lines.some(({ orders }) => orders?.some(isEarlier))) {
    const updated = lines.map((scan) => ({
      ...scan,
      orders: scan.orders?.map((each) => (isEarlier(each) ? order : each)),
    }));
    state.scans = { ...state.scans, lines: updated };
  }
  const { detail } = state;
  if (detail?.order !== undefined && isEarlier(detail.order)) state.detail = { ...detail, order };
  const index = state.orders.findIndex(({ id }) => id === order.id);
  const shown = state.orders[index];
  // A page can have been read after this change.
  if (shown === undefined || shown.revision >= order.revision) return;
  state.orders[index] = order;
  if (order.status !== 'pending') state.selected.delete(order.id);
}

/** Applies changes to the list: rows change in place, and new matches are counted. */
export function applyChanges(state: State, changes: readonly Change[]): void {
  for (const { order } of changes) {
    // Also what was scanned, which no page has.
    showOrder(state, order);
    if (order.status === 'pending') continue;
    // It can be selected, or about to be.
    state.selected.delete(order.id);
    state.selecting?.ended.add(order.id);
  }
  if (state.isLoading) {
    state.waiting.push(...changes);
    return;
  }
  const shown = new Set(state.orders.map(({ id }) => id));
  for (const { order } of changes) {
    const isNewer = !shown.has(order.id) && isShown(order, state.view) && isWithin(state, order);
    if (isNewer) state.newer.add(order.id);
    else state.newer.delete(order.id);
  }
}

/** Whether an order belongs to the pages that are shown, not to a later one. */
function isWithin({ orders, next, view }: State, order: OrderRecord): boolean {
  return next === undefined || comesBefore(order, orders.at(-1)!, view);
}

/** Adds a page to the list, with the changes that arrived while it was read. */
export function addPage(state: State, { orders, next }: OrderPage): void {
  const shown = new Set(state.orders.map(({ id }) => id));
  // Sorted by ship date, an order that is shipped between two reads can be on both pages.
  state.orders.push(...orders.filter(({ id }) => !shown.has(id)));
  state.next = next;
  endLoading(state);
}

/** Applies the changes that arrived while a page was read. */
export function endLoading(state: State): void {
  const { waiting } = state;
  Object.assign(state, { isLoading: false, isSlow: false, waiting: [] });
  applyChanges(state, waiting);
}

/** Whether the key can change orders that are selected. */
export const maySelect = ({ session }: State): boolean =>
  session?.may.cancel === true || session?.may.ship === true;

/** Selects or deselects an order that is shown. */
export function toggle(screen: Screen, id: bigint): void {
  screen.change(({ selected, orders }) => {
    const order = orders.find((each) => each.id === id);
    if (!selected.delete(id) && order !== undefined) selected.set(id, order);
  });
}

/** Selects all pending orders shown, or none if all are selected. */
export function toggleAll(screen: Screen): void {
  screen.change((state) => {
    const { pending, isAll } = selectable(state);
    for (const order of pending) {
      if (isAll) state.selected.delete(order.id);
      else state.selected.set(order.id, order);
    }
  });
}

/** Selects the current order, or the orders from the nearest selected one above down to it. @returns what takes back the selection of one */
export function selectCurrent(screen: Screen, isRange: boolean): (() => void) | undefined {
  const { orders, current, selected } = screen.state;
  if (!maySelect(screen.state)) return undefined;
  const index = orders.findIndex(({ id }) => id === current);
  const order = orders[index];
  if (order?.status !== 'pending') return undefined;
  if (!isRange) {
    toggle(screen, order.id);
    return () => toggle(screen, order.id);
  }
  const above = orders.slice(0, index).findLastIndex(({ id }) => selected.has(id));
  const range = orders.slice(above < 0 ? index : above, index + 1);
  screen.change(() => {
    for (const each of range) if (each.status === 'pending') selected.set(each.id, each);
  });
  return undefined;
}
