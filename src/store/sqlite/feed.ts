import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Position } from '../../../protocol/history.ts';
import { changePage, isPast, startPosition } from '../feed.ts';
import type { Store } from '../store.ts';
import { changeFromRow, HEAD, headFromColumn, positionFromColumns } from '../tables/feed.ts';
import { ORDER_COLUMNS } from '../tables/orders.ts';
import type { StoreReads } from '../tables/session.ts';
import { requireStoreRow } from '../tables/store-row.ts';
import type { Session } from './database/session.ts';
import { expectUsable, GUARD_COLUMNS, inSnapshot } from './database/transaction.ts';

/** Changes that are read in one turn of the event loop. */
const BATCH = 128;

export const readFeed: StoreReads<Store, Session>['feed'] = async (session, after, limit) => {
  const read = inSnapshot(session, () => {
    const now = readPosition(session);
    if (after === 'now') return { now, from: now, rows: [] };
    const from = startPosition(after, now);
    if (!isInPast(session, from, now)) return undefined;
    return { now, from, rows: session.query(SQL.changes, [from.revision, limit + 1]) };
  });
  if (read === undefined) return undefined;
  const { rows, ...positions } = read;
  return changePage({
    ...positions,
    changes: rows.map(changeFromRow),
    isCut: rows.length > limit,
    readOn: async (revision, id) => {
      await nextTurn();
      const rest = session.query(SQL.rest, [revision, id, BATCH]);
      return { changes: rest.map(changeFromRow), isCut: rest.length === BATCH };
    },
  });
};

/**
 * Returns the position after everything in the store.
 * @throws StoreUnavailable if another release has migrated the database, or the store was moved to another database
 */
export function readPosition(session: Session): Position {
  const [revision, head, ...guards] = requireStoreRow(session.query(SQL.store)[0]);
  expectUsable(guards);
  return positionFromColumns([revision!, head!]);
}

/** Returns whether a position is in the past of the store, which is now at `now`. */
export function isInPast(session: Session, position: Position, now: Position): boolean {
  // The head of the current revision is known.
  const [row] = position.revision < now.revision ? session.query(HEAD, [position.revision]) : [];
  return isPast(position, now, headFromColumn(row?.[0]));
}

/** The event after the first one of an order, and the one that placed it. */
const CHANGES = `SELECT ${ORDER_COLUMNS}, event.revision, event.type, event.at, event.by,
    later.type, later.ship_date_before, later.complete_before, placed.at, event.head
  FROM order_events AS event
  CROSS JOIN orders ON orders.id = event.order_id
  LEFT JOIN order_events AS later ON event.type = 'placed' AND later.type <> 'placed'
    AND later.revision = orders.revision AND later.order_id = orders.id
  LEFT JOIN order_events AS placed ON event.type <> 'placed' AND placed.type = 'placed'
    AND placed.revision = iif(event.previous = 0, event.revision, event.previous) AND placed.order_id = orders.id`;

const ORDER_BY = `ORDER BY event.revision, event.order_id, event.type = 'placed' DESC LIMIT ?`;

const SQL = {
  store: `SELECT revision, head, ${GUARD_COLUMNS} FROM store`,
  changes: `${CHANGES} WHERE event.revision > ? ${ORDER_BY}`,
  rest: `${CHANGES} WHERE event.revision = ? AND event.order_id >= ? ${ORDER_BY}`,
} as const;
