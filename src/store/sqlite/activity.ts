import type { Position } from '../../../protocol/history.ts';
import type { OrderEventType } from '../../domain/lifecycle.ts';
import type { OrderId } from '../../domain/order.ts';
import {
  ActivityCount,
  type ActivityCursor,
  type ActivityPage,
  type ActivityPlace,
  type ActivityQuery,
  countedPosition,
  endOf,
  MAX_EVENTS_COUNTED,
  startOf,
} from '../activity.ts';
import { keyNames } from '../tables/keys.ts';
import { text, type Value } from '../tables/session.ts';
import type { Session } from './database/session.ts';
import { inSnapshot } from './database/transaction.ts';
import { isInPast, readPosition } from './feed.ts';
import type { Turns } from './turns.ts';

/** Events that are counted in one turn of the event loop, which takes one or two milliseconds. */
const EVENTS_PER_TURN = 1_000;

/** See Store.activity. Events never change, so the turns need no common snapshot. */
export async function countActivity(
  session: Session,
  turns: Turns,
  query: ActivityQuery,
): Promise<ActivityPage | undefined> {
  const begin = await turns.run(() => inSnapshot(session, () => beginOf(session, query)));
  if (begin === undefined) return undefined;
  const { now, start } = begin;
  const count = new ActivityCount(query);
  let next: ActivityPlace | undefined = start;
  for (let counted = 0; next !== undefined && counted < MAX_EVENTS_COUNTED; ) {
    const from: ActivityPlace = next;
    const range = { from, to: endOf(query), upTo: start.upTo, now };
    next = await turns.run(() => countOn(session, count, range));
    counted += EVENTS_PER_TURN;
  }
  return {
    ...count.result(await keyNames(session, count.keys())),
    next: next && { ...start, ...next },
    upTo: { revision: start.upTo, head: start.head },
    now,
  };
}

/** Returns where to begin; undefined if the count began in another history. */
function beginOf(
  session: Session,
  query: ActivityQuery,
): { readonly now: Position; readonly start: ActivityCursor } | undefined {
  const now = readPosition(session);
  const counted = countedPosition(query);
  if (counted !== undefined && !isInPast(session, counted, now)) return undefined;
  return { now, start: startOf(query, now) };
}

/** Counts the next events. Returns the place of the last one; undefined at the end. */
function countOn(
  session: Session,
  count: ActivityCount,
  range: {
    readonly from: ActivityPlace;
    readonly to: ActivityPlace;
    readonly upTo: bigint;
    readonly now: Position;
  },
): ActivityPlace | undefined {
  const [from, end] = [valuesOf(range.from), valuesOf(range.to)];
  const [last] = session.query(SQL.last, [
    ...from,
    ...end,
    range.now.revision,
    EVENTS_PER_TURN - 1,
  ]);
  const to = last ?? end;
  for (const [type, at, by] of session.query(SQL.events, [...from, ...to, range.upTo])) {
    count.addEvent(type as OrderEventType, Number(at), text(by));
  }
  if (last === undefined) return undefined;
  return { at: Number(last[0]), revision: last[1] as bigint, orderId: last[2] as OrderId };
}

function valuesOf({ at, revision, orderId }: ActivityPlace): Value[] {
  return [at, revision, orderId];
}

const SQL = {
  // Without later events, so that a page ends at the same event whenever it is read.
  last: `SELECT at, revision, order_id FROM order_events
    WHERE (at, revision, order_id) > (?, ?, ?) AND (at, revision, order_id) <= (?, ?, ?) AND +revision <= ?
    ORDER BY at, revision, order_id LIMIT 1 OFFSET ?`,
  // The index is named, since the planner may prefer the primary key for the last condition.
  events: `SELECT type, at, by FROM order_events INDEXED BY order_events_by_time
    WHERE (at, revision, order_id) > (?, ?, ?) AND (at, revision, order_id) <= (?, ?, ?) AND +revision <= ?`,
} as const;
