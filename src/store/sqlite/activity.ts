import type { OrderEventType } from '../../orders/lifecycle.ts';
import { INT64_MAX, type OrderId } from '../../orders/order.ts';
import {
  ActivityCount,
  type ActivityCursor,
  type ActivityPage,
  type ActivityPosition,
  type ActivityQuery,
  before,
  MAX_EVENTS_COUNTED,
} from '../activity.ts';
import type { FeedPosition } from '../feed.ts';
import { readPosition } from './feed.ts';
import type { Session } from './session.ts';
import { inSnapshot } from './transaction.ts';
import type { Turns } from './turns.ts';
import { text } from './values.ts';

/** Events that are counted in one turn of the event loop, which takes one or two milliseconds. */
const EVENTS_PER_TURN = 1_000;

/** See Store.activity. Events never change, so the turns need no common snapshot. */
export async function countActivity(
  session: Session,
  turns: Turns,
  query: ActivityQuery,
): Promise<ActivityPage | undefined> {
  const { boundaries } = query;
  const begin = await turns.run(() => inSnapshot(session, () => beginOf(session, query)));
  if (begin === undefined) return undefined;
  const { now, start } = begin;
  const count = new ActivityCount(query);
  let next: ActivityPosition | undefined = start;
  for (let counted = 0; next !== undefined && counted < MAX_EVENTS_COUNTED; ) {
    const from: ActivityPosition = next;
    next = await turns.run(() =>
      countOn(session, count, { from, to: boundaries.at(-1)!, ...start }),
    );
    counted += EVENTS_PER_TURN;
  }
  const ids = JSON.stringify(count.keys());
  const names = session.query(SQL.names, ids) as unknown as [string, string][];
  return {
    ...count.result(new Map(names)),
    next: next && { ...start, ...next },
    ...{ upTo: start.upTo, now },
  };
}

/** Returns where to begin; undefined if the store does not have the event that the query goes on behind. */
function beginOf(
  session: Session,
  { boundaries, after }: ActivityQuery,
): { readonly now: FeedPosition; readonly start: ActivityCursor } | undefined {
  const now = readPosition(session);
  const { storeId, revision } = now;
  if (after === undefined) {
    return { now, start: { ...before(boundaries[0]!), storeId, upTo: revision } };
  }
  if (after.storeId !== storeId || after.upTo > revision) return undefined;
  const [event] = session.query(SQL.event, after.revision, after.orderId, after.at);
  return event && { now, start: after };
}

/** Counts the next events. Returns where it has stopped; undefined at the end. */
function countOn(
  session: Session,
  count: ActivityCount,
  range: { readonly from: ActivityPosition; readonly to: number; readonly upTo: bigint },
): ActivityPosition | undefined {
  const { at, revision, orderId } = range.from;
  const values = [at, revision, orderId, range.to];
  const [last] = session.query(SQL.last, ...values, EVENTS_PER_TURN - 1);
  const end = last ?? [range.to - 1, INT64_MAX, INT64_MAX];
  for (const [type, time, by] of session.query(
    SQL.events,
    ...values.slice(0, 3),
    ...end,
    range.upTo,
  )) {
    count.addEvent(type as OrderEventType, Number(time), text(by));
  }
  if (last === undefined) return undefined;
  return { at: Number(last[0]), revision: last[1] as bigint, orderId: last[2] as OrderId };
}

const SQL = {
  event: 'SELECT 1 FROM order_events WHERE revision = ? AND order_id = ? AND at = ?',
  last: `SELECT at, revision, order_id FROM order_events
    WHERE (at, revision, order_id) > (?, ?, ?) AND at < ?
    ORDER BY at, revision, order_id LIMIT 1 OFFSET ?`,
  // The index is named, since the planner may prefer the primary key for the last condition.
  events: `SELECT type, at, by FROM order_events INDEXED BY order_events_by_time
    WHERE (at, revision, order_id) > (?, ?, ?) AND (at, revision, order_id) <= (?, ?, ?) AND +revision <= ?`,
  names: 'SELECT id, name FROM api_keys WHERE id IN (SELECT value FROM json_each(?))',
} as const;
