import type { Environment } from '../keys/api-key.ts';
import { ORDER_STATUSES, type OrderStatus } from '../orders/order.ts';

/** What a look at all of a store found. */
export interface Findings {
  /** Migrations that have run, and those that this release knows. */
  readonly schema: { readonly has: number; readonly knows: number };
  /** Undefined where it was not recorded, or the schema is older. */
  readonly environment: Environment | undefined;
  readonly movedTo: string | undefined;
  readonly revision: bigint;
  /** As counted, which the store's own counters are compared with. */
  readonly orders: Readonly<Record<OrderStatus, bigint>>;
  /** One line each; none for a sound store. */
  readonly problems: readonly string[];
}

/** What the row of the table store says. */
export type Counters = Readonly<Record<OrderStatus | 'revision', bigint>>;

/** Counts of all rows, in one row of integers, in SQL for every engine and every schema. */
export const COUNTS = `SELECT
  ${ORDER_STATUSES.map((status) => `(SELECT count(*) FROM orders WHERE status = '${status}')`).join(', ')},
  (SELECT coalesce(max(revision), 0) FROM order_events),
  (SELECT count(*) FROM orders WHERE NOT EXISTS (SELECT 1 FROM order_events AS event
    WHERE event.order_id = orders.id AND event.revision = orders.revision)),
  (SELECT count(*) FROM order_events AS event WHERE NOT EXISTS (SELECT 1 FROM orders WHERE id = event.order_id))`;

/** What `counts`, the row of COUNTS, tells beside the store's own counters. */
export function compare(
  counters: Counters,
  counts: readonly bigint[],
): Pick<Findings, 'orders' | 'problems'> {
  const [pending, shipped, cancelled, revision, withoutEvent, withoutOrder] = counts;
  const orders = { pending: pending!, shipped: shipped!, cancelled: cancelled! };
  const problems = ORDER_STATUSES.filter((status) => orders[status] !== counters[status]).map(
    (status) =>
      `there are ${orders[status]} ${status} orders, and the store has counted ${counters[status]}`,
  );
  if (revision !== counters.revision) {
    problems.push(
      `the last event has revision ${revision}, and the store is at ${counters.revision}`,
    );
  }
  if (withoutEvent! > 0n)
    problems.push(`${withoutEvent} orders lack the event of their last change`);
  if (withoutOrder! > 0n) problems.push(`${withoutOrder} events are of no order`);
  return { orders, problems };
}
