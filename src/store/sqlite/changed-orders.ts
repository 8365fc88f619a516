import { isSamePosition } from '../../../protocol/history.ts';
import { byId, INT64_MAX } from '../../domain/order.ts';
import type { Store } from '../store.ts';
import { ORDER_COLUMNS, ORDER_WIDTH } from '../tables/orders.ts';
import type { Row, StoreReads } from '../tables/session.ts';
import type { Session } from './database/session.ts';
import { isInPast, readPosition } from './feed.ts';
import { PAGE, pagesById, visitPages } from './scan.ts';

/** @param session a connection of its own, since a snapshot can span many turns of the event loop */
export const readChangedOrders: StoreReads<Store, Session>['changedOrders'] = async (
  session,
  since,
  visit,
) => {
  if (since !== undefined && isSamePosition(since, readPosition(session))) return since;
  session.run('BEGIN');
  try {
    const position = readPosition(session);
    if (since === undefined) await visitPages(pagesById(session, LISTED), visit);
    else {
      if (!isInPast(session, since, position)) return undefined;
      const pages = pagesByRevision(session, since.revision);
      await visitPages(pages, (orders) => visit(orders.toSorted(byId)));
    }
    return position;
  } finally {
    session.run('COMMIT');
  }
};

/** Reads the orders changed after a revision, in the order of their latest events. */
function* pagesByRevision(session: Session, since: bigint): Iterable<readonly Row[]> {
  let after = [since, INT64_MAX];
  for (;;) {
    const rows = session.query(CHANGED, after);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    const last = rows.at(-1)!;
    after = [last[ORDER_WIDTH] as bigint, last[0] as bigint];
  }
}

const LISTED = "status <> 'cancelled'";

/**
 * Ordered by event, each order at its latest event: ordered by id, SQLite would read all orders, or block for a long
 * sort. GROUP BY, since an order placed and cancelled in one revision has two events in it.
 */
const CHANGED = `SELECT ${ORDER_COLUMNS}, orders.revision FROM order_events AS event
  CROSS JOIN orders ON orders.id = event.order_id AND orders.revision = event.revision
  WHERE (event.revision, event.order_id) > (?, ?) GROUP BY event.revision, event.order_id
  ORDER BY event.revision, event.order_id LIMIT ${PAGE}`;
