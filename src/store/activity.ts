import type { Position } from '../../protocol/history.ts';
import type { OrderEventType } from '../domain/lifecycle.ts';
import { INT64_MAX, type OrderId } from '../domain/order.ts';

/** Which events to count. */
export interface ActivityQuery {
  /** Milliseconds since the epoch, ascending. A period is from each one, inclusive, to the next one, exclusive. */
  readonly boundaries: readonly number[];
  /** Id of a key whose events alone are counted. */
  readonly by?: string | undefined;
  /** The cursor of an earlier call with the same boundaries and key. */
  readonly after?: ActivityCursor | undefined;
}

/** The position after the events of an order in a revision, in order of time, revision and order id. */
export interface ActivityPlace {
  readonly at: number;
  readonly revision: bigint;
  readonly orderId: OrderId;
}

/** The position at which a count continues. */
export interface ActivityCursor extends ActivityPlace {
  /** Of `upTo`. */
  readonly head: string;
  /** Later revisions are not counted, so that the parts of a count are of one position. */
  readonly upTo: bigint;
}

type EventCounts = Readonly<Record<OrderEventType, number>>;

interface CountsOfKey extends EventCounts {
  /** Id of the key; undefined for operators. */
  readonly by: string | undefined;
  /** Undefined for operators. */
  readonly byName: string | undefined;
}

export interface ActivityPage {
  /** For each period. */
  readonly periods: readonly EventCounts[];
  /** In all periods together; most first, then by id. */
  readonly byKey: readonly CountsOfKey[];
  /** Undefined if all events of the periods are counted. */
  readonly next: ActivityCursor | undefined;
  /** Events of all revisions up to this one are counted. */
  readonly upTo: Position;
  /** The position after everything in the store. */
  readonly now: Position;
}

/** Returns the position that `after` counts up to, which must be in the past of the store; undefined when a count begins. */
export function countedPosition({ after }: ActivityQuery): Position | undefined {
  return after && { revision: after.upTo, head: after.head };
}

/** Returns where to begin, before the first period or after `after`, and the end of the periods. @param now the position of the store */
export function rangeOf({ boundaries, after }: ActivityQuery, now: Position) {
  const begin = { ...before(boundaries[0]!), head: now.head, upTo: now.revision };
  return { start: after ?? begin, end: before(boundaries.at(-1)!) };
}

/** The position before all events of a time. */
function before(at: number): ActivityPlace {
  return { at: at - 1, revision: INT64_MAX, orderId: INT64_MAX as OrderId };
}

/** Adds up events by period and type, and by key and type; those of other keys are left out if the query names one. */
export class ActivityCount {
  readonly #query: ActivityQuery;
  readonly #periods: Record<OrderEventType, number>[];
  readonly #byKey = new Map<string | undefined, Record<OrderEventType, number>>();

  constructor(query: ActivityQuery) {
    this.#query = query;
    this.#periods = query.boundaries.slice(1).map(() => ({ ...NOTHING }));
  }

  /** Adds an event, unless it is in no period. */
  addEvent(type: OrderEventType, at: number, by: string | undefined): void {
    const period = this.#query.boundaries.findLastIndex((each) => each <= at);
    this.add(type, by, period, 1);
  }

  /** Adds events of one type, period and key; ignores them if `period` is not the index of a period. */
  add(type: OrderEventType, by: string | undefined, period: number, count: number): void {
    const counts = this.#periods[period];
    const isOfAnother = this.#query.by !== undefined && by !== this.#query.by;
    if (counts === undefined || isOfAnother) return;
    counts[type] += count;
    const ofKey = this.#byKey.get(by) ?? { ...NOTHING };
    ofKey[type] += count;
    this.#byKey.set(by, ofKey);
  }

  /** The keys that have made changes. */
  keys(): readonly string[] {
    return [...this.#byKey.keys()].filter((by) => by !== undefined);
  }

  /** The page of these counts. @param last where it ends; undefined if all are counted @param now see ActivityPage */
  page(
    names: ReadonlyMap<string, string>,
    start: ActivityCursor,
    last: ActivityPlace | undefined,
    now: Position,
  ): ActivityPage {
    const upTo = { revision: start.upTo, head: start.head };
    return { ...this.result(names), next: last && { ...start, ...last }, upTo, now };
  }

  /** @param names of keys, by id */
  result(names: ReadonlyMap<string, string>): Pick<ActivityPage, 'periods' | 'byKey'> {
    const byKey = [...this.#byKey].map(([by, counts]) => ({
      by,
      byName: by === undefined ? undefined : names.get(by),
      ...counts,
    }));
    const totalOf = (counts: EventCounts) => counts.placed + counts.cancelled + counts.shipped;
    // Every node must sort them alike: the response has an ETag.
    byKey.sort(
      (one, other) => totalOf(other) - totalOf(one) || ((one.by ?? '') < (other.by ?? '') ? -1 : 1),
    );
    return { periods: this.#periods, byKey };
  }
}

const NOTHING: EventCounts = { placed: 0, cancelled: 0, shipped: 0 };
