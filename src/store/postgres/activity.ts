import type { OrderEventType } from '../../domain/lifecycle.ts';
import type { OrderId } from '../../domain/order.ts';
import { ActivityCount, type ActivityPlace, countedPosition, rangeOf } from '../activity.ts';
import { MAX_ROWS_READ } from '../pages.ts';
import type { Store } from '../store.ts';
import { keyNames } from '../tables/keys.ts';
import { type StoreReads, text } from '../tables/session.ts';
import { arrayOf } from './database/arrays.ts';
import type { Session } from './database/session.ts';
import { isInPast, readPosition } from './feed.ts';

/** Events never change, so the statements need no common snapshot. */
export const countActivity: StoreReads<Store, Session>['activity'] = async (session, query) => {
  const now = await readPosition(session);
  const counted = countedPosition(query);
  if (counted !== undefined && !(await isInPast(session, counted, now))) return undefined;
  const { start, end } = rangeOf(query, now);
  const [from, to] = [valuesOf(start), valuesOf(end)];
  const [last] = await session.query(SQL.last, [...from, ...to, now.revision]);
  const values = [...from, ...(last ?? to), start.upTo, arrayOf(query.boundaries)];
  const count = new ActivityCount(query);
  for (const [period, type, by, events] of await session.query(SQL.counts, values)) {
    // Periods are counted from 1.
    count.add(type as OrderEventType, text(by), Number(period) - 1, Number(events));
  }
  const [at, revision, orderId] = last ?? [];
  const place = last && {
    at: Number(at),
    revision: revision as bigint,
    orderId: orderId as OrderId,
  };
  return count.page(await keyNames(session, count.keys()), start, place, now);
};

function valuesOf({ at, revision, orderId }: ActivityPlace) {
  return [at, revision, orderId];
}

const SQL = {
  // Without later events, so that a page ends at the same event whenever it is read.
  last: `SELECT at, revision, order_id FROM order_events
      WHERE (at, revision, order_id) > ($1, $2, $3) AND (at, revision, order_id) <= ($4, $5, $6)
        AND revision <= $7
      ORDER BY at, revision, order_id OFFSET ${MAX_ROWS_READ - 1} LIMIT 1`,
  counts: `SELECT width_bucket(at, $8::bigint[]), type, by, count(*) FROM order_events
      WHERE (at, revision, order_id) > ($1, $2, $3) AND (at, revision, order_id) <= ($4, $5, $6)
        AND revision <= $7
      GROUP BY 1, 2, 3`,
} as const;
