import type { OrderEventType } from '../../orders/lifecycle.ts';
import type { OrderId } from '../../orders/order.ts';
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
  for (let counted = 0; counted < MAX_EVENTS_COUNTED; counted += EVENTS_PER_TURN) {
    const from: ActivityPosition = next;
    next = await turns.run(() => countOn(session, count, from, range.lastRevision));
    if (next === undefined) break;
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
  from: ActivityPosition,
  lastRevision: bigint,
): ActivityPosition | undefined {
  const { storeId, revision, orderId, type } = from;
  const values = [revision, orderId, type, lastRevision, EVENTS_PER_TURN];
  const rows = session.query(SQL.events, ...values);
  for (const [, , type, at, by] of rows)
    count.addEvent(type as OrderEventType, Number(at), text(by));
  if (rows.length < EVENTS_PER_TURN) return undefined;
  const last = rows.at(-1) as [bigint, OrderId, OrderEventType];
  return { storeId, revision: last[0], orderId: last[1], type: last[2] };
}

const SQL = {
  lastRevisionBefore: lastRevisionBefore('?1'),
  events: `SELECT revision, order_id, type, at, by FROM order_events
    WHERE (revision, order_id, type) > (?, ?, ?) AND revision <= ?
    ORDER BY revision, order_id, type LIMIT ?`,
  names: `SELECT id, name FROM api_keys WHERE id IN (SELECT value FROM json_each(?))`,
} as const;
