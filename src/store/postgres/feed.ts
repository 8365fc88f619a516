import { changeOf, type OrderChange } from '../../orders/change.ts';
import type { OrderEventType } from '../../orders/lifecycle.ts';
import type { OrderId } from '../../orders/order.ts';
import {
  type ChangePage,
  changePage,
  type FeedPosition,
  type FeedStart,
  isInHistory,
  type LastEvent,
  MAX_CHANGES,
  startPosition,
} from '../feed.ts';
import { expectNotMovedAway } from '../tables.ts';
import { ORDER_COLUMNS, orderFromRow } from './order-row.ts';
import type { Row, Session, Statement } from './session.ts';
import { present } from './store-row.ts';
import { number } from './values.ts';

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
    ...{ from, now, changes },
    // Of those up to now: the page depends on nothing that its ETag does not name.
    isCut: changes.length > limit,
    readOn: async (revision, id) => {
      const rest = await session.query(SQL.rest, [revision, BATCH, id]);
      return { changes: rest.map(changeFromRow), isCut: rest.length === BATCH };
    },
  });
}

/**
 * Returns the position behind everything in the store.
 * @throws StoreUnavailable if the store was moved to another database
 */
export async function readPosition(session: Session): Promise<FeedPosition> {
  const [row] = await session.query(SQL.position);
  return positionFromRow(present(row));
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
  return { storeId: storeId!, revision: BigInt(revision!), last };
}

function lastFromRow([orderId, type, at, by]: Row): LastEvent {
  return {
    ...{ orderId: BigInt(orderId!) as OrderId, type: type as OrderEventType },
    ...{ at: Number(at), by: by ?? undefined },
  };
}

function changeFromRow(row: Row): OrderChange {
  const [revision, type, at, by, laterType, shipDateBefore, completeBefore, placedAt] =
    row.slice(7);
  const event = {
    ...{ revision: BigInt(revision!), type: type as OrderEventType, at: Number(at) },
    by: by ?? undefined,
  };
  const later =
    laterType === null
      ? undefined
      : {
          type: laterType as OrderEventType,
          shipDateBefore: number(shipDateBefore),
          completeBefore: completeBefore === null ? undefined : completeBefore === 't',
        };
  return changeOf(orderFromRow(row), event, { later, placedAt: Number(placedAt ?? at) });
}

/**
 * Returns the statement for the first $2 of some changes, with the event after the first one of each order, and the one that placed it.
 * The planner needs a constant limit, and lateral subqueries, to look rows up rather than to join whole tables.
 */
function changesStatement(name: string, condition: string, most: number): Statement {
  return {
    name,
    text: `WITH event AS MATERIALIZED (
        SELECT * FROM (SELECT revision, order_id, type, at, by FROM order_events WHERE ${condition}
          ORDER BY revision, order_id, type = 'placed' DESC LIMIT ${most}) AS next LIMIT $2)
      SELECT found.*, event.revision, event.type, event.at, event.by,
        later.type, later.ship_date_before, later.complete_before, placed.at
      FROM event
      CROSS JOIN LATERAL (SELECT ${ORDER_COLUMNS}, orders.revision AS latest FROM orders WHERE id = event.order_id) AS found
      LEFT JOIN LATERAL (SELECT type, ship_date_before, complete_before FROM order_events
        WHERE order_id = found.id AND revision = found.latest AND type <> 'placed' AND event.type = 'placed'
        LIMIT 1) AS later ON true
      LEFT JOIN LATERAL (SELECT at FROM order_events
        WHERE order_id = found.id AND type = 'placed' AND event.type <> 'placed' LIMIT 1) AS placed ON true
      ORDER BY event.revision, event.order_id, event.type = 'placed' DESC`,
  };
}

const SQL = {
  position: {
    name: 'position',
    text: `SELECT ${POSITION_COLUMNS} FROM store ${WITH_LAST}`,
  },
  last: {
    name: 'last',
    text: `SELECT order_id, type, at, by FROM order_events WHERE revision = $1
      ORDER BY order_id DESC, type = 'placed' LIMIT 1`,
  },
  changes: changesStatement('feed', 'revision > $1', MAX_CHANGES + 1),
  rest: changesStatement('feedRest', 'revision = $1 AND order_id >= $3', BATCH),
} as const;
