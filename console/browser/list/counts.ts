import type { OrderCounts, OrderStatus } from '@store-orders/client';
import { STATUSES } from './view.ts';

/** How many orders have one of some statuses; all orders if there are none. */
export function totalOf(
  orders: OrderCounts['orders'],
  statuses: readonly OrderStatus[] = [],
): bigint {
  const each = statuses.length === 0 ? STATUSES : statuses;
  return each.reduce((sum, status) => sum + orders[status], 0n);
}

/** What follows a number of orders: a plus if at least as many match. */
export const moreIn = (counts: OrderCounts | undefined): string =>
  counts?.isExact === false ? '+' : '';
