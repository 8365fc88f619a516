import type { OrderEventType } from '../../orders/lifecycle.ts';
import { INT64_MAX, type OrderId } from '../../orders/order.ts';
import {
  ActivityCount,
  type ActivityPage,
  type ActivityPosition,
  type ActivityQuery,
  behindRevision,
  lastRevisionBefore,
  MAX_EVENTS_COUNTED,
  searchTimes,
} from '../activity.ts';
import { readPosition } from './feed.ts';
import type { Session } from './session.ts';
import { inSnapshot } from './transaction.ts';
import type { Turns } from './turns.ts';
import { text } from './values.ts';

/** Events that are counted in one turn of the event loop, which takes about a millisecond. */
const EVENTS_PER_TURN = 1_000;

/** See Store.activity. Events never change, so the turns need no common snapshot. */
export async function countActivity(
  session: Session,
  turns: Turns,
  query: ActivityQuery,
): Promise<ActivityPage | undefined> {
  const range = await turns.run(() => inSnapshot(session, () => rangeOf(session, query)));
  if (range === undefined) return undefined;
  const count = new ActivityCount(query);
  let next: ActivityPosition | undefined = range.from;
  for (let counted = 0; next !== undefined && counted < MAX_EVENTS_COUNTED; ) {
    const from: ActivityPosition = next;
    next = await turns.run(() => countOn(session, count, from, range.lastRevision));
    counted += EVENTS_PER_TURN;
  }
  const ids = JSON.stringify(count.keys());
  const names = session.query(SQL.names, ids) as unknown as [string, string][];
  return count.page(new Map(names), next, range.now);
}

/** Finds where to count; undefined if the query goes on in another store. */
function rangeOf(session: Session, query: ActivityQuery) {
  const now = readPosition(session);
  const [first, last] = searchTimes(query).map(
    (time) => session.query(SQL.lastRevisionBefore, time)[0]![0] as bigint,
  );
  const from = query.after ?? behindRevision(now.storeId, first!);
  return from.storeId === now.storeId ? { now, from, lastRevision: last! } : undefined;
}

/** Counts the next events. Returns where it has stopped; undefined at the end. */
function countOn(
  session: Session,
  count: ActivityCount,
  { storeId, revision, orderId }: ActivityPosition,
  lastRevision: bigint,
): ActivityPosition | undefined {
  const from = [revision, orderId];
  const [boundary] = session.query(SQL.boundary, ...from, lastRevision, EVENTS_PER_TURN - 1);
  const to = boundary ?? [lastRevision, INT64_MAX];
  for (const [type, at, by] of session.query(SQL.events, ...from, ...to)) {
    count.addEvent(type as OrderEventType, Number(at), text(by));
  }
  if (boundary === undefined) return undefined;
  return { storeId, revision: boundary[0] as bigint, orderId: boundary[1] as OrderId };
}

const SQL = {
  lastRevisionBefore: lastRevisionBefore('?1'),
  boundary: `SELECT revision, order_id FROM order_events
    WHERE (revision, order_id) > (?, ?) AND revision <= ?
    ORDER BY revision, order_id LIMIT 1 OFFSET ?`,
  events: `SELECT type, at, by FROM order_events
    WHERE (revision, order_id) > (?, ?) AND (revision, order_id) <= (?, ?)`,
  names: `SELECT id, name FROM api_keys WHERE id IN (SELECT value FROM json_each(?))`,
} as const;
