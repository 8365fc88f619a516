import { differingFields, type Order, type OrderId } from './order.ts';

/** A command on one order. `by` is the id of the API key that sent it, absent for operators. */
export type OrderCommand =
  | { readonly type: 'place'; readonly order: Order }
  | { readonly type: 'cancel'; readonly id: OrderId; readonly by?: string }
  /** `at` is the time of shipment in milliseconds since the epoch; defaults to the current time. */
  | { readonly type: 'ship'; readonly id: OrderId; readonly at?: number };

export function isOrderCommand(command: { readonly type: string }): command is OrderCommand {
  return command.type === 'place' || command.type === 'cancel' || command.type === 'ship';
}

/** Returns the id of the order that a command refers to. */
export function idOf(command: OrderCommand): OrderId {
  return command.type === 'place' ? command.order.id : command.id;
}

export type OrderEventType = 'placed' | 'cancelled' | 'shipped';

export type Refusal =
  | 'order_not_found'
  | 'order_already_cancelled'
  | 'order_already_shipped'
  | 'order_differs';

/** `order` is the new state of the order; present only if it changed. */
export type Decision =
  | { readonly outcome: OrderEventType; readonly order: Order }
  | { readonly outcome: 'unchanged' | Refusal; readonly order?: undefined };

export type OrderOutcome = Decision['outcome'];

/**
 * The transition table: the effect of `command`, given at `now`, on `order` (undefined if it does not exist). A pure
 * function. An order that is not pending never changes again.
 *
 * |           | place                   | cancel                  | ship                    |
 * | --------- | ----------------------- | ----------------------- | ----------------------- |
 * | no order  | placed                  | order_not_found         | order_not_found         |
 * | pending   | unchanged/order_differs | cancelled               | shipped                 |
 * | shipped   | unchanged/order_differs | order_already_shipped   | unchanged               |
 * | cancelled | unchanged/order_differs | order_already_cancelled | order_already_cancelled |
 */
export function decide(order: Order | undefined, command: OrderCommand, now: number): Decision {
  if (command.type === 'place') return place(order, command.order);
  if (order === undefined) return { outcome: 'order_not_found' };
  if (order.status === 'cancelled') return { outcome: 'order_already_cancelled' };

  if (command.type === 'cancel') {
    return order.status === 'shipped'
      ? { outcome: 'order_already_shipped' }
      : { outcome: 'cancelled', order: { ...order, status: 'cancelled' } };
  }
  if (order.status === 'shipped') return { outcome: 'unchanged' };
  return {
    outcome: 'shipped',
    order: { ...order, status: 'shipped', shipDate: command.at ?? now, complete: true },
  };
}

/** Existing orders are never overwritten: placing one again is a no-op if it is the same, otherwise a refusal. */
function place(existing: Order | undefined, order: Order): Decision {
  if (existing === undefined) return { outcome: 'placed', order };
  return { outcome: differingFields(existing, order).length === 0 ? 'unchanged' : 'order_differs' };
}
