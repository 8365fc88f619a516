import { changeOf, type OrderChange } from '../../orders/change.ts';
import type { OrderEventType } from '../../orders/lifecycle.ts';
import type { LastEvent } from '../feed.ts';
import { eventFromRow, laterFromRow, orderFromRow } from './orders.ts';
import { number, type Row, text } from './session.ts';

/** Reads the columns order_id, type, at, by. */
export function lastFromRow([orderId, type, at, by]: Row): LastEvent {
  return {
    orderId: orderId as bigint,
    type: type as OrderEventType,
    at: Number(at),
    by: text(by),
  };
}

/**
 * Reads the columns of the order, of the event (revision, type, at, by), of the event after it if that placed the order (type,
 * ship_date_before, complete_before), and the time at which the order was placed if the event did not.
 */
export function changeFromRow(row: Row): OrderChange {
  const event = eventFromRow(row.slice(6));
  const later = laterFromRow(row.slice(10));
  return changeOf(orderFromRow(row), event, { later, placedAt: number(row[13]) ?? event.at });
}
