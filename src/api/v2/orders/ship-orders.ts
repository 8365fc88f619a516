import { operation } from '../../operation.ts';
import { changeInBulk } from './change-in-bulk.ts';
import { timeOf } from './filters.ts';

/** POST /store/orders/ship: ships several orders; the result of each. */
export const shipOrders = operation('shipOrders', (call, services) => {
  const at = timeOf(call.body.shippedAt);
  const shipment = { type: 'ship', at, by: call.key.id } as const;
  return changeInBulk(call, services, `ship ${at}`, (order) => ({
    ...shipment,
    id: order.id,
    trackingNumber: order.trackingNumber,
  }));
});
