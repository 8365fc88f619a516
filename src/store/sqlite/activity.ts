import type { OrderEventType } from '../../domain/lifecycle.ts';
import type { OrderId } from '../../domain/order.ts';
import { ActivityCount, type ActivityPlace, countedPosition, rangeOf } from '../activity.ts';
import { MAX_ROWS_READ } from '../pages.ts';
import type { Store } from '../store.ts';
import { keyNames } from '../tables/keys.ts';
import { type Row, type StoreReads, text } from '../tables/session.ts';
import { inSnapshot } from './database/transaction.ts';
import { isInPast, readPosition } from './feed.ts';
import type { Reading } from './turns.ts';

/** Events that are read in one turn of the event loop, which takes one or two milliseconds. */
const EVENTS_PER_TURN = 1_000;
/** The order of the last one can have two further events in its revision, and the row after them shows that they are all. */
const MAX_ROWS = EVENTS_PER_TURN + 3;

/** Events never change, so the turns need no common snapshot. */
export const countActivity: StoreReads<Store, Reading>['activity'] = async (reading, query) => {
  const { session, turns } = reading;
  const counted = countedPosition(query);
  const readNow = () => {
    const position = readPosition(session);
    return counted === undefined || isInPast(session, counted, position) ? position : undefined;
  };
  const now = await turns.run(() => inSnapshot(session, readNow));
  if (now === undefined) return undefined;
  const { start, end } = rangeOf(query, now);
  const count = new ActivityCount(query);
  /** Counts the next events. Returns the place of the last one; undefined at the end. */
  const countOn = (from: ActivityPlace): ActivityPlace | undefined => {
    const values = [from.at, from.revision, from.orderId, end.at, end.revision, now.revision];
    const rows = session.query(EVENTS, [...values, MAX_ROWS]);
    const last = rows[EVENTS_PER_TURN - 1];
    const after = rows.findIndex(
      (row, index) => index >= EVENTS_PER_TURN && !isSamePlace(row, last!),
    );
    for (const [type, at, by, revision] of after === -1 ? rows : rows.slice(0, after)) {
      // Later events are read too, so that a page reads a bounded number of rows.
      if ((revision as bigint) > start.upTo) continue;
      count.addEvent(type as OrderEventType, Number(at), text(by));
    }
    if (last === undefined) return undefined;
    return { at: Number(last[1]), revision: last[3] as bigint, orderId: last[4] as OrderId };
  };
  let next: ActivityPlace | undefined = start;
  for (let read = 0; next !== undefined && read < MAX_ROWS_READ; read += EVENTS_PER_TURN) {
    const from: ActivityPlace = next;
    next = await turns.run(() => countOn(from));
  }
  return count.page(await keyNames(session, count.keys()), start, next, now);
};

function isSamePlace(one: Row, other: Row): boolean {
  return one[3] === other[3] && one[4] === other[4];
}

/**
 * The last event of each revision is found by its time, and leads to the others, which have the same time. They are read in the order of the primary
 * key; asked to sort by it too, SQLite would sort each revision anew, which takes longer than reading it.
 */
const EVENTS = `SELECT event.type, event.at, event.by, event.revision, event.order_id
  FROM order_events AS last INDEXED BY revisions_by_time
  CROSS JOIN order_events AS event ON event.revision = last.revision
  WHERE last.head IS NOT NULL AND (last.at, last.revision) >= (?1, ?2) AND (last.at, last.revision) <= (?4, ?5)
    AND +last.revision <= ?6 AND (last.at, last.revision, event.order_id) > (?1, ?2, ?3)
  ORDER BY last.at, last.revision LIMIT ?7`;
