import type { Position } from '../../../protocol/history.ts';
import { changePage, isPast, MAX_CHANGES, startPosition } from '../feed.ts';
import type { Store } from '../store.ts';
import { changeFromRow, HEAD, headFromColumn, positionFromColumns } from '../tables/feed.ts';
import { ORDER_COLUMNS } from '../tables/orders.ts';
import type { Row, StoreReads } from '../tables/session.ts';
import { expectNotMovedAway, requireStoreRow } from '../tables/store-row.ts';
import type { Session } from './database/session.ts';
import { expectOnPrimary, ON_STANDBY } from './database/standby.ts';

/** Changes per query. */
const BATCH = 2_000;

export const readFeed: StoreReads<Store, Session>['feed'] = async (session, after, limit) => {
  const since = typeof after === 'object' ? after.revision : 0n;
  const isNow = after === 'now';
  // The statement has no room for more.
  const most = Math.min(limit, MAX_CHANGES);
  // Pipelined, position first: later events that the second statement finds are left for the next page.
  const [now, [found], rows] = await Promise.all([
    readPosition(session),
    session.query(HEAD, [since]),
    isNow ? [] : session.query(SQL.changes, [since, most + 1]),
  ]);
  if (isNow) return { changes: [], position: now, isMore: false, now };
  const from = startPosition(after, now);
  if (!isPast(from, now, headFromColumn(found?.[0]))) return undefined;
  const changes = rows.map(changeFromRow).filter(({ order }) => order.revision <= now.revision);
  return changePage({
    from,
    now,
    changes,
    // Counts only changes up to `now`: a page must depend only on the state that its ETag identifies.
    isCut: changes.length > most,
    readOn: async (revision, id) => {
      const rest = await session.query(SQL.rest, [revision, BATCH, id]);
      return { changes: rest.map(changeFromRow), isCut: rest.length === BATCH };
    },
  });
};

/**
 * Returns the position after everything in the store.
 * @throws StoreUnavailable if the store was moved to another database
 */
export async function readPosition(session: Session): Promise<Position> {
  const [row] = await session.query(SQL.position);
  return positionFromRow(requireStoreRow(row));
}

/** Returns whether a position is in the past of the store, which is now at `now`. */
export async function isInPast(session: Session, position: Position, now: Position) {
  const [row] = await session.query(HEAD, [position.revision]);
  return isPast(position, now, headFromColumn(row?.[0]));
}

/** The columns expected by `positionFromRow`, from `store`. */
export const POSITION_COLUMNS = `store.revision, store.head, store.moved_to, ${ON_STANDBY}`;

/** @throws StoreUnavailable if the store was moved to another database, or a standby has read it */
export function positionFromRow([revision, head, movedTo, onStandby]: Row): Position {
  expectOnPrimary(onStandby);
  expectNotMovedAway(movedTo);
  return positionFromColumns([revision!, head!]);
}

/**
 * Returns the statement for the first $2 of some changes, each with the event that placed its order and the event after that. A constant limit
 * and lateral subqueries make the planner fetch rows by key rather than join whole tables.
 */
function changesStatement(condition: string, most: number): string {
  return `WITH event AS MATERIALIZED (
        SELECT * FROM (SELECT revision, order_id, type, at, by, head FROM order_events WHERE ${condition}
          ORDER BY revision, order_id, type = 'placed' DESC LIMIT ${most}) AS next LIMIT $2)
      SELECT found.id, found.status, found.pet_id, found.quantity, found.ship_date, found.complete, found.reference,
        found.reason, found.tracking_number,
        event.revision, event.type, event.at, event.by,
        later.type, later.ship_date_before, later.complete_before, placed.at, event.head
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
  position: `SELECT ${POSITION_COLUMNS} FROM store`,
  changes: changesStatement('revision > $1', MAX_CHANGES + 1),
  rest: changesStatement('revision = $1 AND order_id >= $3', BATCH),
} as const;
