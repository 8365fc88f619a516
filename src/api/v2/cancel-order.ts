import type { Contract } from '../../contract/contract.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import type { OrderId } from '../../orders/order.ts';
import type { Store } from '../../store/store.ts';
import type { Submit } from '../submit.ts';
import { changeOrder } from './change-order.ts';

/** POST /store/orders/{orderId}/cancel: the order, once the cancellation is durable. */
export function cancelOrder(contract: Contract, store: Store, submit: Submit): RouteHandler {
  return contract.validated<{ orderId: OrderId }>('cancelOrder', (exchange, { parameters }) => {
    const { id: by, cancelsPerHour } = exchange.apiKey!;
    // Most keys have no limit. Each field of a command is copied to the writer's thread.
    const limit = cancelsPerHour === undefined ? undefined : { cancelsPerHour };
    const command = { type: 'cancel', id: parameters.orderId, by, ...limit } as const;
    return changeOrder(exchange, { store, submit }, command);
  });
}
