import type { Screen } from '../screen.ts';
import { selectable } from './list-state.ts';

/** Selects or deselects an order. */
export function toggle(screen: Screen, id: bigint): void {
  screen.change(({ selected }) => {
    if (!selected.delete(id)) selected.add(id);
  });
}

/** Selects all pending orders shown, or none if all are selected. */
export function toggleAll(screen: Screen): void {
  screen.change((state) => {
    const { pending, isAll } = selectable(state);
    for (const { id } of pending) {
      if (isAll) state.selected.delete(id);
      else state.selected.add(id);
    }
  });
}

/** Selects the current order, or the orders from the nearest selected one above down to it. */
export function selectCurrent(screen: Screen, isRange: boolean): void {
  const { orders, current, selected, session } = screen.state;
  if (session?.may.cancel !== true && session?.may.ship !== true) return;
  const index = orders.findIndex(({ id }) => id === current);
  const order = orders[index];
  if (order?.status !== 'pending') return;
  if (!isRange) {
    toggle(screen, order.id);
    return;
  }
  const above = orders.slice(0, index).findLastIndex(({ id }) => selected.has(id));
  const range = orders.slice(above < 0 ? index : above, index + 1);
  screen.change(() => {
    for (const { id, status } of range) if (status === 'pending') selected.add(id);
  });
}
