import { operation } from '../../operation.ts';
import { cancellation } from '../../submit.ts';
import { changeInBulk } from './change-in-bulk.ts';

/** POST /store/orders/cancel: cancels several orders; the result of each. */
export const cancelOrders = operation('cancelOrders', (call, services) =>
  changeInBulk(call, services, 'cancel', ({ id, reason }) => ({
    ...cancellation(call.key, id),
    reason,
  })),
);
