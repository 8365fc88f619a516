import { operation } from '../../operation.ts';
import { changeOrder } from './change-order.ts';
import { timeOf } from './filters.ts';

/** POST /store/orders/{orderId}/ship: the order, once the shipment is durable. */
export const shipOrder = operation('shipOrder', (call, services) => {
  const { key, parameters, body } = call;
  return changeOrder(call, services, {
    ...{ type: 'ship', id: parameters.orderId, by: key.id },
    at: timeOf(body?.shippedAt),
    trackingNumber: body?.trackingNumber,
    ifReference: body?.reference,
  });
});
