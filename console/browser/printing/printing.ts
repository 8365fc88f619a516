import type { OrderRecord } from '@store-orders/client';
import { orders as ordersText } from '../format.ts';
import { matchingOrders } from '../list/matching-orders.ts';
import type { Screen } from '../screen.ts';
import type { Paper } from '../state.ts';

/** Orders on one print. */
const MAX_PRINTED = 1_000;

/** Prints the selected orders. */
export async function printSelected(screen: Screen, paper: Paper): Promise<void> {
  const { session, selected } = screen.state;
  if (session === undefined) return;
  if (selected.size > MAX_PRINTED) {
    screen.toast(`Select up to ${ordersText(MAX_PRINTED)} to print`, true);
    return;
  }
  const found: OrderRecord[] = [];
  try {
    // The selection can change meanwhile.
    const only = new Map(selected);
    for await (const orders of matchingOrders(screen, session, only)) found.push(...orders);
  } catch (error) {
    const problem = screen.problemOf(session, error);
    if (problem !== undefined) screen.toast(`Not printed. ${problem}`, true);
    return;
  }
  screen.change((state) => (state.printed = { paper, orders: found }));
  await screen.drawn();
  addEventListener('afterprint', () => screen.change((state) => (state.printed = undefined)), {
    once: true,
  });
  print();
}
