import {
  type ChangePage,
  changePage,
  type FeedPosition,
  type FeedStart,
  isInHistory,
  MAX_CHANGES,
  startPosition,
} from '../feed.ts';
import { changeFromRow, lastFromRow } from '../tables/feed.ts';
import { ORDER_COLUMNS } from '../tables/orders.ts';
import type { Row } from '../tables/session.ts';
import { expectNotMovedAway, requireStoreRow } from '../tables/store-row.ts';
import type { Session } from './database/session.ts';

/** Changes per query. */
const BATCH = 2_000;

/** See Store.feed. */
export async function readFeed(
  session: Session,
  after: FeedStart,
  limit: number,
): Promise<ChangePage | undefined> {
  const since = typeof after === 'object' ? after.revision : 0n;
  const isNow = after === 'now';
  // Pipelined, position first: events that the second statement may see in addition are left for the next page.
  const [now, [event], rows] = await Promise.all([
    readPosition(session),
    session.query(SQL.last, [since]),
    isNow ? [] : session.query(SQL.changes, [since, limit + 1]),
  ]);
  if (isNow) return { changes: [], position: now, isMore: false, now };
  const from = startPosition(after, now);
  if (!isInHistory(from, now, event && lastFromRow(event))) return undefined;
  const changes = rows.map(changeFromRow).filter(({ order }) => order.revision <= now.revision);
  return changePage({
    from,
    now,
    changes,
    // Counts only changes up to `now`, since the page must depend only on the state that its ETag identifies.
    isCut: changes.length > limit,
    readOn: async (revision, id) => {
      const rest = await session.query(SQL.rest, [revision, BATCH, id]);
      return { changes: rest.map(changeFromRow), isCut: rest.length === BATCH };
    },
  });
}

/**
 * Returns the position after everything in the store.
 * @throws StoreUnavailable if the store was moved to another database
 */
export async function readPosition(session: Session): Promise<FeedPosition> {
  const [row] = await session.query(SQL.position);
  return positionFromRow(requireStoreRow(row));
}

/** The columns expected by `positionFromRow`, from `store` joined WITH_LAST. */
export const POSITION_COLUMNS =
  'store.id, store.revision, store.moved_to, last.order_id, last.type, last.at, last.by';

const LAST = `SELECT order_id, type, at, by FROM order_events WHERE revision = store.revision
  ORDER BY order_id DESC, type = 'placed' LIMIT 1`;

/** Joins the last event of the current revision. */
export const WITH_LAST = `LEFT JOIN LATERAL (${LAST}) AS last ON true`;

/** @throws StoreUnavailable if the store was moved to another database */
export function positionFromRow([storeId, revision, movedTo, ...event]: Row): FeedPosition {
  expectNotMovedAway(movedTo);
  const last = event[0] === null ? undefined : lastFromRow(event);
  return { storeId: storeId as string, revision: revision as bigint, last };
}

/**
 * Returns the statement for the first $2 of some changes, with the event after the first one of each order, and the one that placed it.
 * The planner needs a constant limit, and lateral subqueries, to look rows up rather than to join whole tables.
 */
function changesStatement(condition: string, most: number): string {
  return `WITH event AS MATERIALIZED (
        SELECT * FROM (SELECT revision, order_id, type, at, by FROM order_events WHERE ${condition}
          ORDER BY revision, order_id, type = 'placed' DESC LIMIT ${most}) AS next LIMIT $2)
      SELECT found.id, found.status, found.pet_id, found.quantity, found.ship_date, found.complete,
        event.revision, event.type, event.at, event.by,
        later.type, later.ship_date_before, later.complete_before, placed.at
      FROM event
      CROSS JOIN LATERAL (SELECT ${ORDER_COLUMNS}, orders.revision AS latest FROM orders WHERE id = event.order_id) AS found
      LEFT JOIN LATERAL (SELECT type, ship_date_before, complete_before FROM order_events
        WHERE order_id = found.id AND revision = found.latest AND type <> 'placed' AND event.type = 'placed'
        LIMIT 1) AS later ON true
      LEFT JOIN LATERAL (SELECT at FROM order_events
        WHERE order_id = found.id AND type = 'placed' AND event.type <> 'placed' LIMIT 1) AS placed ON true
      ORDER BY event.revision, event.order_id, event.type = 'placed' DESC`;
}

const SQL = {
  position: `SELECT ${POSITION_COLUMNS} FROM store ${WITH_LAST}`,
  last: `SELECT order_id, type, at, by FROM order_events WHERE revision = $1
      ORDER BY order_id DESC, type = 'placed' LIMIT 1`,
  changes: changesStatement('revision > $1', MAX_CHANGES + 1),
  rest: changesStatement('revision = $1 AND order_id >= $3', BATCH),
} as const;
