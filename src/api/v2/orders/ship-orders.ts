import { operation } from '../../operation.ts';
import { changeInBulk } from './change-in-bulk.ts';
import { timeOf } from './filters.ts';

/** POST /store/orders/ship: ships several orders; the result of each. */
export const shipOrders = operation('shipOrders', (call, services) => {
  const at = timeOf(call.body.shippedAt);
  const by = call.key.id;
  return changeInBulk(call, services, {
    changeOf: ({ id, trackingNumber }) => ({ type: 'ship', id, at, by, trackingNumber }),
    content: `ship ${at}`,
  });
});
