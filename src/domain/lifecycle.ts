import { differingFields, type Order, type OrderId } from './order.ts';

/** A command on an existing order, or one that places an order under its own id, as imports do. */
export type OrderCommand =
  | { readonly type: 'insertOrder'; readonly order: Order }
  | CancelCommand
  | ShipCommand;

interface CancelCommand extends ChangeOrder {
  readonly type: 'cancel';
  /** See Order. */
  readonly reason?: string | undefined;
}

interface ShipCommand extends ChangeOrder {
  readonly type: 'ship';
  /** The time of shipment in milliseconds since the epoch; defaults to the current time. */
  readonly at?: number | undefined;
  /** See Order. */
  readonly trackingNumber?: string | undefined;
}

interface ChangeOrder {
  readonly id: OrderId;
  /** Id of the API key that sent the command; absent for operators. */
  readonly by?: string | undefined;
  /** Cancels that `by` may make in an hour; absent for any number. */
  readonly cancelsPerHour?: number | undefined;
  /** The revision that the order must still have; absent for any. */
  readonly ifRevision?: bigint | undefined;
  /** The reference that the order must have; absent for any. */
  readonly ifReference?: string | undefined;
}

/** As `ifRevision`: no order has it, so that nothing is changed. */
export const NO_REVISION = -1n;

export const EVENT_TYPES = ['placed', 'cancelled', 'shipped'] as const;
export type OrderEventType = (typeof EVENT_TYPES)[number];

/** Why a command does not change an order. */
type OrderRefusal =
  | 'order_not_found'
  | 'order_already_cancelled'
  | 'order_already_shipped'
  | 'order_changed'
  | 'reference_differs'
  | 'order_differs';

/** `order` is the new state of the order; present only if it changed. */
export type Decision =
  | { readonly outcome: OrderEventType; readonly order: Order }
  | { readonly outcome: 'unchanged' | OrderRefusal; readonly order?: undefined };

/** An order and the revision of its latest change; undefined if it was changed by the transaction itself. */
export interface KnownOrder {
  readonly order: Order;
  readonly revision: bigint | undefined;
}

/**
 * The transition table: the effect of `command`, given at `now`, on the order as it is known (undefined if it does not exist). A pure function.
 * An order that is not pending never changes again.
 *
 * |           | insertOrder             | cancel                  | ship                    |
 * | --------- | ----------------------- | ----------------------- | ----------------------- |
 * | no order  | placed                  | order_not_found         | order_not_found         |
 * | pending   | unchanged/order_differs | cancelled               | shipped                 |
 * | shipped   | unchanged/order_differs | order_already_shipped   | unchanged               |
 * | cancelled | unchanged/order_differs | order_already_cancelled | order_already_cancelled |
 *
 * A cancel or ship results in reference_differs, whatever the status, if the order does not have the reference `ifReference`: the client means
 * another order. If it would change the order, but the order's revision is not `ifRevision`, it results in order_changed: a precondition is
 * evaluated last (RFC 9110, section 13.2.1).
 */
export function decide(
  known: KnownOrder | undefined,
  command: OrderCommand,
  now: number,
): Decision {
  if (command.type === 'insertOrder') return insertOrder(known?.order, command.order);
  if (known === undefined) return { outcome: 'order_not_found' };
  const { order, revision } = known;
  const { ifReference, ifRevision } = command;
  if (ifReference !== undefined && order.reference !== ifReference) {
    return { outcome: 'reference_differs' };
  }
  if (order.status === 'cancelled') return { outcome: 'order_already_cancelled' };
  if (order.status === 'shipped') {
    return { outcome: command.type === 'cancel' ? 'order_already_shipped' : 'unchanged' };
  }
  if (ifRevision !== undefined && ifRevision !== revision) return { outcome: 'order_changed' };
  if (command.type === 'cancel') {
    const { reason } = command;
    return { outcome: 'cancelled', order: { ...order, status: 'cancelled', reason } };
  }
  const { at: shipDate = now, trackingNumber } = command;
  return {
    outcome: 'shipped',
    order: { ...order, status: 'shipped', shipDate, complete: true, trackingNumber },
  };
}

/** Existing orders are never overwritten: placing one again is a no-op if it is the same, otherwise a refusal. */
function insertOrder(existing: Order | undefined, order: Order): Decision {
  if (existing === undefined) return { outcome: 'placed', order };
  return { outcome: differingFields(existing, order).length === 0 ? 'unchanged' : 'order_differs' };
}
