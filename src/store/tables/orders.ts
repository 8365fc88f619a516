import { type LaterEvent, orderAfter } from '../../domain/change.ts';
import type { OrderEventType } from '../../domain/lifecycle.ts';
import type { Order, OrderStatus } from '../../domain/order.ts';
import type { OrderEvent } from '../store.ts';
import { boolean, integer, number, type Row, text } from './session.ts';

/** The columns expected by `orderFromRow`. */
export const ORDER_COLUMNS =
  'orders.id, status, pet_id, quantity, ship_date, complete, orders.reference';
/** Number of ORDER_COLUMNS. */
export const ORDER_WIDTH = 7;

export function orderFromRow(row: Row): Order {
  const [id, status, petId, quantity, shipDate, complete, reference] = row;
  return {
    id: id as bigint,
    status: status as OrderStatus,
    petId: integer(petId),
    quantity: integer(quantity),
    shipDate: number(shipDate),
    complete: boolean(complete),
    reference: text(reference),
  };
}

/**
 * Reads the columns type, ship_date_before, complete_before of the event after the one that placed an order; undefined if there
 * is none.
 */
export function laterFromRow([type, shipDateBefore, completeBefore]: Row): LaterEvent | undefined {
  if (type === null) return undefined;
  return {
    type: type as OrderEventType,
    shipDateBefore: number(shipDateBefore),
    completeBefore: boolean(completeBefore),
  };
}

/** Reads ORDER_COLUMNS and those of `laterFromRow`. @returns the order as it was before that event, if there is one */
export function orderBeforeFromRow(row: Row): Order {
  return orderAfter(orderFromRow(row), laterFromRow(row.slice(ORDER_WIDTH)));
}

/** Reads the columns revision, type, at, by. */
export function eventFromRow([revision, type, at, by]: Row): OrderEvent {
  return {
    revision: revision as bigint,
    type: type as OrderEventType,
    at: Number(at),
    by: text(by),
  };
}
