import type { Environment } from '../../domain/api-key.ts';
import { ORDER_STATUSES, type OrderStatus } from '../../domain/order.ts';
import { type HeadFindings, type HistoryCheck, randomBelow, SAMPLE_PARTS } from './heads.ts';
import type { Session } from './session.ts';

/** How a store is checked. */
export interface StoreCheck extends HistoryCheck {
  /** Whether of a store with more than SAMPLED_ABOVE orders only a sample of the rows is read: for a quick look, never before data is replaced. */
  readonly areRowsSampled?: boolean;
}

/** The result of checking a store. */
export interface Findings {
  /** Number of migrations that have run, and that this release knows. */
  readonly schema: { readonly has: number; readonly knows: number };
  /** Differences from the schema of this release, one line each; empty for the schema of an earlier release. */
  readonly schemaDifferences: readonly string[];
  /** Triggers, rules, indexes and so on that no migration made: one line each. The service ignores them. */
  readonly foreign: readonly string[];
  /** What was changed by hand of the audit records and API keys: one line each. Like an altered history, it refuses neither a backup nor a restore. */
  readonly audit: readonly string[];
  /** Of the store, see StoreStatus; undefined if the schema is too old to have it. */
  readonly identity: string | undefined;
  /** Undefined if not recorded, or if the schema is too old to have it. */
  readonly environment: Environment | undefined;
  readonly movedTo: string | undefined;
  readonly revision: bigint;
  /** As in a position; undefined if it has not been computed, or if the schema is too old to have it. */
  readonly head: string | undefined;
  /** Of the history; undefined if it cannot be checked, such as in an older schema. */
  readonly heads: HeadFindings | undefined;
  /** Whether a sample of the rows was checked, not all of them. */
  readonly isSample: boolean;
  /** Counted from the rows, to be compared with the store's own counters; of a sample, these counters. */
  readonly orders: Readonly<Record<OrderStatus, bigint>>;
  /** One line per problem of the file and its rows; empty for a consistent store. */
  readonly problems: readonly string[];
}

/** The counters in the row of the table store. */
export type Counters = Readonly<Record<OrderStatus | 'revision', bigint>>;

/** The first schema version with the table placements, on every engine. */
const PLACEMENTS_SINCE = 8;

/** Returns a statement that counts all rows, and returns one row of integers, for every engine. @param has the number of migrations that have run */
export function countsSql(has = PLACEMENTS_SINCE): string {
  return has < PLACEMENTS_SINCE ? `${COUNTS}, 0` : `${COUNTS}, ${PLACEMENTS_OF_NO_ORDER}`;
}

/** Stores with more orders are checked by a sample, if that was asked for: up to here all rows take about a second. */
const SAMPLED_ABOVE = 100_000n;
/** Orders of each part of a sample. */
const SAMPLE_ORDERS = 500;

const HAS_NO_EVENT = `NOT EXISTS (SELECT 1 FROM order_events AS event
    WHERE event.order_id = orders.id AND event.revision = orders.revision
      AND event.type IN ('placed', orders.status))`;

const SAMPLE_WITHOUT_EVENT = `SELECT count(*)
  FROM (SELECT id, revision, status FROM orders WHERE id >= $1 ORDER BY id LIMIT ${SAMPLE_ORDERS}) AS orders
  WHERE ${HAS_NO_EVENT}`;

const COUNTS = `SELECT
  ${ORDER_STATUSES.map((status) => `(SELECT count(*) FROM orders WHERE status = '${status}')`).join(', ')},
  (SELECT coalesce(max(revision), 0) FROM order_events),
  (SELECT count(*) FROM orders WHERE ${HAS_NO_EVENT}),
  (SELECT count(*) FROM order_events AS event WHERE NOT EXISTS (SELECT 1 FROM orders WHERE id = event.order_id))`;

const PLACEMENTS_OF_NO_ORDER =
  '(SELECT count(*) FROM placements WHERE NOT EXISTS (SELECT 1 FROM orders WHERE id = placements.order_id))';

/**
 * Returns a row like that of `countsSql`, of a store with orders: the counters themselves, the revision of the last event, and how many orders of a
 * random sample lack their event.
 */
async function sampledCounts(session: Session, { pending, shipped, cancelled }: Counters) {
  const [[last] = []] = await session.query('SELECT coalesce(max(revision), 0) FROM order_events');
  const [[lowest, highest] = []] = await session.query('SELECT min(id), max(id) FROM orders');
  let withoutEvent = 0n;
  for (let part = 0; part < SAMPLE_PARTS; part += 1) {
    const from = (lowest as bigint) + randomBelow((highest as bigint) - (lowest as bigint) + 1n);
    withoutEvent += (await session.query(SAMPLE_WITHOUT_EVENT, [from]))[0]![0] as bigint;
  }
  return [pending, shipped, cancelled, last as bigint, withoutEvent, 0n, 0n];
}

/**
 * Compares the store's counters with its rows, if these can be counted; of a sample, with some of the rows.
 * @param has the number of migrations that have run
 * @param isKnown whether an error is known already
 */
export async function countedRows(
  session: Session,
  { has, counters }: { readonly has: number; readonly counters: Counters },
  { areRowsSampled = false }: StoreCheck,
  isKnown: (error: unknown) => boolean,
): Promise<Pick<Findings, 'isSample' | 'orders' | 'problems'>> {
  const { pending, shipped, cancelled } = counters;
  const isSample = areRowsSampled && pending + shipped + cancelled > SAMPLED_ABOVE;
  try {
    const counts = isSample
      ? await sampledCounts(session, counters)
      : (await session.query(countsSql(has)))[0];
    return { isSample, ...compare(counters, counts as readonly bigint[]) };
  } catch (error) {
    if (!isKnown(error)) throw error;
    const problems = [`the orders cannot be counted: ${(error as Error).message}`];
    return { isSample, orders: { pending, shipped, cancelled }, problems };
  }
}

/** Compares the store's counters with `counts`, the row of `countsSql`. */
export function compare(counters: Counters, counts: readonly bigint[]) {
  const [pending, shipped, cancelled, revision, withoutEvent, withoutOrder, placements] = counts;
  const orders = { pending: pending!, shipped: shipped!, cancelled: cancelled! };
  const problems = ORDER_STATUSES.filter((status) => orders[status] !== counters[status]).map(
    (status) =>
      `there are ${orders[status]} ${status} orders, but the counter of the store is ${counters[status]}`,
  );
  if (revision !== counters.revision) {
    problems.push(
      `the last event has revision ${revision}, but the store is at revision ${counters.revision}`,
    );
  }
  if (withoutEvent! > 0n)
    problems.push(`${withoutEvent} orders lack the event of their last change`);
  if (withoutOrder! > 0n) problems.push(`${withoutOrder} events belong to no order`);
  if (placements! > 0n) problems.push(`${placements} idempotency keys belong to no order`);
  return { orders, problems };
}
