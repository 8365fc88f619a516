import type { OrderCounts, OrderPage } from '../../protocol/generated/records.ts';
import { int64Text, oneOf, pageSize, plainObject, text, timeText } from './arguments.ts';
import type { Call } from './call.ts';
import { pageBefore, read, type Tagged } from './request.ts';
import { isOrderCounts, isOrderPage } from './shapes.ts';

/** Maximum number of orders, or changes, in a page. */
export const LARGEST_PAGE = 500;

const STATUSES = ['pending', 'shipped', 'cancelled'] as const;

/** The statuses that orders have in this release of the contract. */
export type OrderStatus = (typeof STATUSES)[number];

/** Conditions on the orders to read; without any, all orders. */
export interface OrderFilter {
  readonly status?: OrderStatus | readonly OrderStatus[] | undefined;
  readonly petId?: bigint | undefined;
  /** Each API key has references of its own, so several orders can have the same. */
  readonly reference?: string | undefined;
  /** The characters that the reference begins with. Such orders are sorted by reference, unless `sort` is given. */
  readonly referencePrefix?: string | undefined;
  readonly shipDateFrom?: Date | string | undefined;
  readonly shipDateBefore?: Date | string | undefined;
  readonly placedFrom?: Date | string | undefined;
  readonly placedBefore?: Date | string | undefined;
  /** Of the latest change. To follow all changes, use `changes` instead. */
  readonly updatedFrom?: Date | string | undefined;
  readonly updatedBefore?: Date | string | undefined;
}

const SORTS = ['id', 'placedAt', 'updatedAt', 'shipDate', 'reference'] as const;

/** How to read pages of orders. */
export interface OrderQuery extends OrderFilter {
  /**
   * `id` by default, `reference` with `referencePrefix`, which that requires. Sorted by `updatedAt` or `shipDate`, an order that changes or is shipped
   * during the walk can be returned twice or not at all.
   */
  readonly sort?: (typeof SORTS)[number] | undefined;
  /** Ascending by default. */
  readonly direction?: 'asc' | 'desc' | undefined;
  /** Maximum number of orders in a page, 1 to 500; 100 by default. */
  readonly limit?: number | undefined;
}

/** The page of orders to read. */
export interface PageQuery extends OrderQuery {
  /** The `next` of the previous page; without it, the first page is read. */
  readonly cursor?: string | undefined;
}

/** Reads a page of orders once. @throws TypeError for a query that cannot be sent */
export async function orderPage(
  call: Call,
  query: PageQuery,
  ifNoneMatch?: string,
): Promise<Tagged<OrderPage> | undefined> {
  const page = await read<OrderPage>(call, {
    operation: 'listOrders',
    path: '/v2/store/orders',
    ifNoneMatch,
    isValid: isOrderPage,
    query: parametersOf(query),
  });
  if (page?.next !== undefined && page.next === query.cursor) {
    throw pageBefore(call);
  }
  return page;
}

/** Counts the orders that match once. @throws TypeError for a filter that cannot be sent */
export function orderCounts(
  call: Call,
  filter: OrderFilter,
  ifNoneMatch?: string,
): Promise<Tagged<OrderCounts> | undefined> {
  return read<OrderCounts>(call, {
    operation: 'countOrders',
    path: '/v2/store/counts',
    ifNoneMatch,
    isValid: isOrderCounts,
    query: filterParameters(filter),
  });
}

type Parameters = Readonly<Record<string, string | undefined>>;

function parametersOf(query: PageQuery): Parameters {
  return {
    ...filterParameters(query),
    sort: oneOf(query.sort, SORTS, 'sort'),
    direction: oneOf(query.direction, ['asc', 'desc'], 'direction'),
    limit: pageSize(query.limit),
    cursor: text(query.cursor, 'cursor'),
  };
}

function filterParameters(filter: OrderFilter): Parameters {
  plainObject(filter, 'a query');
  const { status, petId } = filter;
  const statuses = typeof status === 'string' || status === undefined ? [status] : [...status];
  const checked = statuses.map((each) => oneOf(each, STATUSES, 'status'));
  return {
    status: status === undefined ? undefined : checked.join(),
    petId: petId === undefined ? undefined : int64Text(petId, 'petId'),
    reference: text(filter.reference, 'reference'),
    referencePrefix: text(filter.referencePrefix, 'referencePrefix'),
    shipDateFrom: timeText(filter.shipDateFrom, 'shipDateFrom'),
    shipDateBefore: timeText(filter.shipDateBefore, 'shipDateBefore'),
    placedFrom: timeText(filter.placedFrom, 'placedFrom'),
    placedBefore: timeText(filter.placedBefore, 'placedBefore'),
    updatedFrom: timeText(filter.updatedFrom, 'updatedFrom'),
    updatedBefore: timeText(filter.updatedBefore, 'updatedBefore'),
  };
}
