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
import { arrayOf, textArray } from './values.ts';

/** See Store.activity. Events never change, so the statements need no common snapshot. */
export async function countActivity(
  session: Session,
  query: ActivityQuery,
): Promise<ActivityPage | undefined> {
  const { boundaries } = query;
  const [first, last] = searchTimes(query);
  const [now, [before], [end]] = await Promise.all([
    readPosition(session),
    session.query(SQL.lastRevisionBefore, [first]),
    session.query(SQL.lastRevisionBefore, [last]),
  ]);
  const from = query.after ?? behindRevision(now.storeId, BigInt(before![0]!));
  if (from.storeId !== now.storeId) return undefined;
  const endRevision = BigInt(end![0]!);
  const lastRevision = endRevision < now.revision ? endRevision : now.revision;
  const begin = [from.revision, from.orderId];
  const [boundary] = await session.query(SQL.boundary, [...begin, lastRevision]);
  const next: ActivityPosition | undefined = boundary && {
    ...{ storeId: now.storeId, revision: BigInt(boundary[0]!) },
    orderId: BigInt(boundary[1]!) as OrderId,
  };
  const to = next ?? behindRevision(now.storeId, lastRevision);
  const values = [...begin, to.revision, to.orderId, arrayOf(boundaries)];
  const count = new ActivityCount(query);
  for (const [period, type, by, events] of await session.query(SQL.counts, values)) {
    count.add({
      ...{ type: type as OrderEventType, by: by ?? undefined },
      // Periods are counted from 1; 0 is before the first one.
      ...{ period: Number(period) - 1, count: Number(events) },
    });
  }
  const names = await session.query(SQL.names, [textArray(count.keys())]);
  return count.page(new Map(names as [string, string][]), next, now);
}

const SQL = {
  lastRevisionBefore: {
    name: 'lastRevisionBefore',
    text: lastRevisionBefore('$1::bigint'),
  },
  boundary: {
    name: 'activityBoundary',
    text: `SELECT revision, order_id FROM order_events
      WHERE (revision, order_id) > ($1, $2) AND revision <= $3
      ORDER BY revision, order_id OFFSET ${MAX_EVENTS_COUNTED - 1} LIMIT 1`,
  },
  counts: {
    name: 'activityCounts',
    text: `SELECT width_bucket(at, $5::bigint[]), type, by, count(*) FROM order_events
      WHERE (revision, order_id) > ($1, $2) AND (revision, order_id) <= ($3, $4)
      GROUP BY 1, 2, 3`,
  },
  names: {
    name: 'keyNames',
    text: `SELECT id, name FROM api_keys WHERE id = ANY ($1::text[])`,
  },
} as const;
