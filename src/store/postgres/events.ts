import type { OrderId } from '../../orders/order.ts';
import type { OrderEvent } from '../store.ts';
import type { Session } from './session.ts';

/** Returns the events of an order, oldest first. */
export async function orderHistory(session: Session, id: OrderId): Promise<OrderEvent[]> {
  const rows = await session.query(HISTORY, [id]);
  return rows.map(([revision, type, at, by]) => ({
    revision: BigInt(revision!),
    type: type as OrderEvent['type'],
    at: Number(at),
    by: by ?? undefined,
  }));
}

const HISTORY = {
  name: 'history',
  text: `SELECT revision, type, at, by FROM order_events WHERE order_id = $1
    ORDER BY revision, at, type = 'placed' DESC`,
} as const;
