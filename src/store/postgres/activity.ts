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
import type { Row, Session } from './session.ts';
import { arrayOf, textArray } from './values.ts';

/** See Store.activity. Events never change, so the statements need no common snapshot. */
export async function countActivity(
  session: Session,
  query: ActivityQuery,
): Promise<ActivityPage | undefined> {
  const { boundaries } = query;
  const now = await readPosition(session);
  const start = await startOf(session, query, now);
  if (start === undefined) return undefined;
  const { storeId, upTo } = start;
  const from = [start.at, start.revision, start.orderId];
  const [last] = await session.query(SQL.last, [...from, boundaries.at(-1)]);
  const end = last ?? [boundaries.at(-1)! - 1, INT64_MAX, INT64_MAX];
  const values = [...from, ...end, upTo, arrayOf(boundaries)];
  const count = new ActivityCount(query);
  for (const [period, type, by, events] of await session.query(SQL.counts, values)) {
    count.add({
      ...{ type: type as OrderEventType, by: by ?? undefined },
      // Periods are counted from 1.
      ...{ period: Number(period) - 1, count: Number(events) },
    });
  }
  const names = await session.query(SQL.names, [textArray(count.keys())]);
  return {
    ...count.result(new Map(names as [string, string][])),
    next: last && { ...positionFrom(last), storeId, upTo },
    ...{ upTo, now },
  };
}

/** Returns where to begin; undefined if the store does not have the event that the query goes on behind. */
async function startOf(
  session: Session,
  { boundaries, after }: ActivityQuery,
  { storeId, revision }: FeedPosition,
): Promise<ActivityCursor | undefined> {
  if (after === undefined) return { ...before(boundaries[0]!), storeId, upTo: revision };
  if (after.storeId !== storeId || after.upTo > revision) return undefined;
  const [event] = await session.query(SQL.event, [after.revision, after.orderId, after.at]);
  return event && after;
}

function positionFrom([at, revision, orderId]: Row): ActivityPosition {
  return {
    ...{ at: Number(at), revision: BigInt(revision!) },
    orderId: BigInt(orderId!) as OrderId,
  };
}

const SQL = {
  event: {
    name: 'activityEvent',
    text: 'SELECT 1 FROM order_events WHERE revision = $1 AND order_id = $2 AND at = $3 LIMIT 1',
  },
  last: {
    name: 'activityLast',
    text: `SELECT at, revision, order_id FROM order_events
      WHERE (at, revision, order_id) > ($1, $2, $3) AND at < $4
      ORDER BY at, revision, order_id OFFSET ${MAX_EVENTS_COUNTED - 1} LIMIT 1`,
  },
  counts: {
    name: 'activityCounts',
    text: `SELECT width_bucket(at, $8::bigint[]), type, by, count(*) FROM order_events
      WHERE (at, revision, order_id) > ($1, $2, $3) AND (at, revision, order_id) <= ($4, $5, $6)
        AND revision <= $7
      GROUP BY 1, 2, 3`,
  },
  names: {
    name: 'keyNames',
    text: `SELECT id, name FROM api_keys WHERE id = ANY ($1::text[])`,
  },
} as const;
