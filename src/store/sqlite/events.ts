import type { OrderId } from '../../orders/order.ts';
import type { OrderEvent } from '../store.ts';
import type { Session } from './session.ts';
import { text } from './values.ts';

/** Returns the events of an order, oldest first. */
export function orderHistory(session: Session, id: OrderId): OrderEvent[] {
  return session.query(HISTORY, id).map(([revision, type, at, by]) => ({
    revision: revision as bigint,
    type: type as OrderEvent['type'],
    at: Number(at),
    by: text(by),
  }));
}

/** Events are ordered by revision: `previous` leads from the order's latest event to all of them. */
const HISTORY = `WITH RECURSIVE revisions (revision) AS (
    SELECT revision FROM orders WHERE id = ?1
    UNION
    SELECT previous FROM revisions CROSS JOIN order_events USING (revision) WHERE order_id = ?1)
  SELECT revision, type, at, by FROM revisions CROSS JOIN order_events USING (revision)
  WHERE order_id = ?1 ORDER BY revision, at, type = 'placed' DESC`;
