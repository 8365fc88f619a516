import type { OrderEventType } from '../orders/lifecycle.ts';
import { INT64_MAX, type OrderId } from '../orders/order.ts';
import type { FeedPosition } from './feed.ts';
import { MAX_ROWS_LOOKED_AT } from './pages.ts';

/** Which events to count. */
export interface ActivityQuery {
  /** Milliseconds since the epoch, ascending. A period is from each one, inclusive, to the next one, exclusive. */
  readonly boundaries: readonly number[];
  /** Where an earlier call with the same boundaries stopped. */
  readonly after?: ActivityPosition | undefined;
}

/** Behind the events of an order in a revision, in order of revision and order id. */
export interface ActivityPosition {
  readonly storeId: string;
  readonly revision: bigint;
  readonly orderId: OrderId;
}

/** How many events there were of each type. */
export type EventCounts = Readonly<Record<OrderEventType, number>>;

/** How many orders a key has cancelled. */
export interface CancelsByKey {
  /** Id of the key; undefined for operators. */
  readonly by: string | undefined;
  /** Undefined for operators. */
  readonly name: string | undefined;
  readonly cancelled: number;
}

export interface ActivityPage {
  /** For each period. */
  readonly periods: readonly EventCounts[];
  /** In all periods together; most first, then by id. */
  readonly cancels: readonly CancelsByKey[];
  /** Where to go on counting; undefined if all events of the periods are counted. */
  readonly next: ActivityPosition | undefined;
  /** Behind everything in the store. */
  readonly now: FeedPosition;
}

/** Events that one request may count. */
export const MAX_EVENTS_COUNTED = MAX_ROWS_LOOKED_AT;

/**
 * The times of events follow their revisions, but for the differences between the clocks of nodes, and for a clock that
 * is set back; events of a period are found if that is less than this.
 */
const CLOCK_TOLERANCE_MS = 60 * 60_000;

/** Returns times between which all events of the periods are in order of revision. */
export function searchTimes({ boundaries }: ActivityQuery): readonly [from: number, to: number] {
  return [boundaries[0]! - CLOCK_TOLERANCE_MS, boundaries.at(-1)! + CLOCK_TOLERANCE_MS];
}

/**
 * Returns the statement that finds the last revision with events before a time, by binary search: all revisions up to
 * `low` are before it. Both engines understand it.
 * @param time the placeholder of the time
 */
export function lastRevisionBefore(time: string): string {
  return `WITH RECURSIVE search (low, step) AS (
      SELECT CAST(0 AS bigint), CAST(4611686018427387904 AS bigint)
      UNION ALL
      SELECT low + CASE WHEN (SELECT at FROM order_events WHERE revision >= low + step ORDER BY revision LIMIT 1) < ${time}
        THEN step ELSE 0 END, step / 2
      FROM search WHERE step > 0)
    SELECT low FROM search WHERE step = 0`;
}

/** The position behind all events of a revision. */
export function behindRevision(storeId: string, revision: bigint): ActivityPosition {
  return { storeId, revision, orderId: INT64_MAX as OrderId };
}

/** Adds up events by period and type, and cancels by key. */
export class ActivityCount {
  readonly #boundaries: readonly number[];
  readonly #periods: Record<OrderEventType, number>[];
  readonly #cancels = new Map<string | undefined, number>();

  constructor({ boundaries }: ActivityQuery) {
    this.#boundaries = boundaries;
    this.#periods = boundaries.slice(1).map(() => ({ placed: 0, cancelled: 0, shipped: 0 }));
  }

  /** Adds an event, unless it is in no period. */
  addEvent(type: OrderEventType, at: number, by: string | undefined): void {
    this.add({ type, by, period: this.#boundaries.findLastIndex((each) => each <= at), count: 1 });
  }

  /** Adds alike events; in no period if `period` is not the index of one. */
  add(events: {
    readonly type: OrderEventType;
    readonly by: string | undefined;
    readonly period: number;
    readonly count: number;
  }): void {
    const { type, by, period, count } = events;
    const counts = this.#periods[period];
    if (counts === undefined) return;
    counts[type] += count;
    if (type === 'cancelled') this.#cancels.set(by, (this.#cancels.get(by) ?? 0) + count);
  }

  /** The keys that have cancelled orders. */
  keys(): readonly string[] {
    return [...this.#cancels.keys()].filter((by) => by !== undefined);
  }

  /** @param names of keys, by id */
  page(
    names: ReadonlyMap<string, string>,
    next: ActivityPosition | undefined,
    now: FeedPosition,
  ): ActivityPage {
    const cancels = [...this.#cancels].map(([by, cancelled]) => ({
      ...{ by, cancelled },
      name: by === undefined ? undefined : names.get(by),
    }));
    // The same on every node: the response has an ETag.
    cancels.sort((one, other) => other.cancelled - one.cancelled || order(one.by, other.by));
    return { periods: this.#periods, cancels, next, now };
  }
}

function order(one = '', other = ''): number {
  return one < other ? -1 : 1;
}
