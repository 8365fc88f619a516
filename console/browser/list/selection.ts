import type { Screen } from '../screen.ts';
import type { State } from '../state.ts';
import { selectable } from './list-state.ts';

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

/** Selects the current order, or the orders from the nearest selected one above down to it. */
export function selectCurrent(screen: Screen, isRange: boolean): void {
  const { orders, current, selected } = screen.state;
  if (!maySelect(screen.state)) return;
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
    for (const each of range) if (each.status === 'pending') selected.set(each.id, each);
  });
}
