import type { ListOrdersQuery } from '../../protocol/generated/calls.ts';
import type { Activity } from '../../protocol/generated/records.ts';

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

/** Reads the counts of some periods, part by part, and adds them up. */
export async function addedUp(
  read: (cursor: string | undefined) => Promise<Activity>,
): Promise<Activity> {
  let part = await read(undefined);
  let sum = part;
  while (part.next !== undefined) {
    part = await read(part.next);
    sum = sumOf(sum, part);
  }
  const { periods, byKey, revision, head } = sum;
  return { periods, byKey, revision, head };
}

function sumOf(sum: Activity, part: Activity): Activity {
  const { revision, head } = part;
  const periods = sum.periods.map((period, index) => added(period, part.periods[index]!));
  const keys = new Map(sum.byKey.map((each) => [each.by, each]));
  for (const each of part.byKey) {
    const known = keys.get(each.by);
    keys.set(each.by, known === undefined ? each : added(each, known));
  }
  const byKey = [...keys.values()].sort((one, other) => Number(totalOf(other) - totalOf(one)));
  return { periods, byKey, revision, head };
}

type Counts = Pick<Activity['byKey'][number], 'placed' | 'cancelled' | 'shipped'>;

function added<T extends Counts>(one: T, other: Counts): T {
  const placed = one.placed + other.placed;
  const cancelled = one.cancelled + other.cancelled;
  const shipped = one.shipped + other.shipped;
  return { ...one, placed, cancelled, shipped };
}

function totalOf({ placed, cancelled, shipped }: Counts): bigint {
  return placed + cancelled + shipped;
}
