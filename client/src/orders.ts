import type { ListOrdersQuery } from '../../protocol/generated/calls.ts';
import type { OrderPage } from '../../protocol/generated/records.ts';
import { queryOf } from './arguments.ts';
import type { Call } from './call.ts';
import { pageBefore, read, type Tagged } from './request.ts';
import { isOrderPage } from './shapes.ts';

/** Maximum number of orders, or changes, in a page. */
export const LARGEST_PAGE = 500;

/** The page of orders to read. */
export type PageQuery = ListOrdersQuery;

/** How to read pages of orders. */
export type OrderQuery = Omit<PageQuery, 'cursor'>;

/** Conditions on the orders to read; without any, all orders. */
export type OrderFilter = Omit<OrderQuery, 'sort' | 'direction' | 'limit'>;

/** The statuses that orders have in this release of the contract. */
export type OrderStatus = Extract<OrderFilter['status'], string>;

/** Reads a page of orders once. @throws TypeError for a query that cannot be sent */
export async function orderPage(
  call: Call,
  query: PageQuery,
  ifNoneMatch?: string,
): Promise<Tagged<OrderPage> | undefined> {
  const request = { query: queryOf('listOrders', query), ifNoneMatch, isValid: isOrderPage };
  const page = await read<OrderPage>(call, 'listOrders', request);
  if (page?.next !== undefined && page.next === query.cursor) throw pageBefore(call);
  return page;
}
