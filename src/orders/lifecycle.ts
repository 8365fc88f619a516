import { differingFields, type Order, type OrderId } from './order.ts';

/** What can be asked of an order. `by` is the id of the API key that asked, absent for operators. */
export type OrderCommand =
  | { readonly type: 'place'; readonly order: Order }
  | { readonly type: 'cancel'; readonly id: OrderId; readonly by?: string }
  /** `at`: when it left, in milliseconds since the epoch; absent means now. */
  | { readonly type: 'ship'; readonly id: OrderId; readonly at?: number };

export function isOrderCommand(command: { readonly type: string }): command is OrderCommand {
  return command.type === 'place' || command.type === 'cancel' || command.type === 'ship';
}

/** The order that a command is about. */
export function idOf(command: OrderCommand): OrderId {
  return command.type === 'place' ? command.order.id : command.id;
}

export type OrderEventType = 'placed' | 'cancelled' | 'shipped';

export type Refusal =
  | 'order_not_found'
  | 'order_already_cancelled'
  | 'order_already_shipped'
  | 'order_differs';

/** `order` is present when something changed: the order as it is from now on. */
export type Decision =
  | { readonly outcome: OrderEventType; readonly order: Order }
  | { readonly outcome: 'unchanged' | Refusal; readonly order?: undefined };

export type OrderOutcome = Decision['outcome'];

/**
 * The transition table: what `command`, given at `now`, does to `order` (undefined if there is
 * none). Pure; an order that is not pending never changes again.
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

/** Nothing is ever overwritten: what stands in the store is either the same or a refusal. */
function place(existing: Order | undefined, order: Order): Decision {
  if (existing === undefined) return { outcome: 'placed', order };
  return { outcome: differingFields(existing, order).length === 0 ? 'unchanged' : 'order_differs' };
}
