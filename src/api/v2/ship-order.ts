import { operation } from '../operation.ts';
import { changeOrder } from './change-order.ts';
import { timeOf } from './filters.ts';

/** POST /store/orders/{orderId}/ship: the order, once the shipment is durable. */
export const shipOrder = operation('shipOrder', (call, services) => {
  const { key, parameters, body } = call;
  const at = timeOf(body?.shippedAt);
  return changeOrder(call, services, { type: 'ship', id: parameters.orderId, at, by: key.id });
});
