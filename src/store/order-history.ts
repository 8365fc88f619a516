import type { OrderId, OrderRecord } from '../orders/order.ts';
import type { OrderEvent, Store } from './store.ts';

/** An order as it was at one moment, and its events up to then, oldest first. */
export interface OrderWithHistory {
  readonly order: OrderRecord;
  readonly events: readonly OrderEvent[];
}

/** Returns an order with its history; undefined if the order does not exist. */
export async function orderWithHistory(
  store: Pick<Store, 'record' | 'history'>,
  id: OrderId,
): Promise<OrderWithHistory | undefined> {
  const [order, history] = await Promise.all([store.record(id), store.history(id)]);
  if (order === undefined) return undefined;
  // The order is read first: an event that comes in between belongs to a later state.
  return { order, events: history.filter(({ revision }) => revision <= order.revision) };
}
