import type { OrderId } from '../../domain/order.ts';
import type { Contract } from '../../http/contract/contract.ts';
import type { RouteHandler } from '../../http/request/exchange.ts';
import type { Store } from '../../store/store.ts';
import { cancelCommand } from '../cancel-limit.ts';
import type { Submit } from '../submit.ts';
import { changeOrder } from './change-order.ts';

/** POST /store/orders/{orderId}/cancel: the order, once the cancellation is durable. */
export function cancelOrder(contract: Contract, store: Store, submit: Submit): RouteHandler {
  return contract.validated<{ orderId: OrderId }>('cancelOrder', (exchange, { parameters }) => {
    const command = cancelCommand(exchange.apiKey!, parameters.orderId);
    return changeOrder(exchange, { store, submit }, command);
  });
}
