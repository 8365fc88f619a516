import { operation } from '../../operation.ts';
import { cancellation } from '../../submit.ts';
import { changeOrder } from './change-order.ts';

/** POST /store/orders/{orderId}/cancel: the order, once the cancellation is durable. */
export const cancelOrder = operation('cancelOrder', (call, services) =>
  changeOrder(call, services, {
    ...cancellation(call.key, call.parameters.orderId),
    ...(call.body && { reason: call.body.reason, ifReference: call.body.reference }),
  }),
);
