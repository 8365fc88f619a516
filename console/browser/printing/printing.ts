import type { OrderRecord } from '@store-orders/client';
import { orders as ordersText } from '../format.ts';
import { matchingOrders } from '../list/matching-orders.ts';
import type { Screen } from '../screen.ts';
import type { Paper } from '../state.ts';

/** Orders on one print. */
const MAX_PRINTED = 1_000;

/** Prints orders as they are now. */
export async function printOrders(screen: Screen, paper: Paper, ids: readonly bigint[]) {
  const { session } = screen.state;
  if (session === undefined) return;
  if (ids.length > MAX_PRINTED) {
    screen.toast(`Choose up to ${ordersText(MAX_PRINTED)} to print`, true);
    return;
  }
  const found: OrderRecord[] = [];
  try {
    for await (const orders of matchingOrders(screen, session, ids)) found.push(...orders);
  } catch (error) {
    const problem = screen.problemOf(session, error);
    if (problem !== undefined) screen.toast(`Not printed. ${problem}`, true);
    return;
  }
  screen.set({ printed: { paper, orders: found } });
  await screen.drawn();
  print();
}

/** Draws what is printed while the browser prints. */
export function listenForPrints(screen: Screen): void {
  addEventListener('beforeprint', () => screen.set({ isPrinting: true }));
  addEventListener('afterprint', () => screen.set({ isPrinting: false, printed: undefined }));
}
