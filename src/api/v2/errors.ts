import type { ChangeResult } from '../../domain/bulk.ts';
import type { ErrorVariant, Refusal } from '../../http/errors.ts';

/** Errors whose status or message in v2 is not that of v1, which is frozen. */
export const CANCEL_ALREADY_CANCELLED: ErrorVariant = {
  code: 'order_already_cancelled',
  status: 409,
  message: 'This order has already been cancelled.',
  reason: 'cancel_already_cancelled',
};
export const SHIP_ALREADY_CANCELLED: ErrorVariant = {
  code: 'order_already_cancelled',
  status: 409,
  message: 'This order has been cancelled and cannot ship.',
  reason: 'ship_already_cancelled',
};
export const SHIP_ALREADY_SHIPPED: ErrorVariant = {
  code: 'order_already_shipped',
  status: 409,
  message: 'This order has already shipped.',
  reason: 'ship_already_shipped',
};

/** Returns why a cancel or a shipment did not change an order. */
export function refusalOf(type: 'cancel' | 'ship', result: ChangeResult): Refusal {
  switch (result) {
    case 'unchanged':
    case 'order_already_shipped':
      return type === 'ship' ? SHIP_ALREADY_SHIPPED : 'order_already_shipped';
    case 'order_already_cancelled':
      return type === 'ship' ? SHIP_ALREADY_CANCELLED : CANCEL_ALREADY_CANCELLED;
    case 'order_not_found':
    case 'order_changed':
    case 'reference_differs':
    case 'cancel_limit_reached':
      return result;
    default:
      throw new Error(`unexpected outcome of ${type}: "${result}"`);
  }
}

export const VARIANTS = [CANCEL_ALREADY_CANCELLED, SHIP_ALREADY_CANCELLED, SHIP_ALREADY_SHIPPED];
