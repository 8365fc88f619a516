import type { ErrorVariant } from '../../http/errors.ts';

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

export const VARIANTS = [CANCEL_ALREADY_CANCELLED, SHIP_ALREADY_CANCELLED, SHIP_ALREADY_SHIPPED];
