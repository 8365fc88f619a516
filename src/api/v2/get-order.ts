import type { OrderId } from '../../domain/order.ts';
import type { Contract } from '../../http/contract/contract.ts';
import { inTime } from '../../http/request/deadline.ts';
import type { RouteHandler } from '../../http/request/exchange.ts';
import { sendError } from '../../http/request/responses.ts';
import { orderEtag } from '../../records/etags.ts';
import { orderRecordJson } from '../../records/order-json.ts';
import type { Store } from '../../store/store.ts';
import { sendRead } from './responses.ts';

/** GET /store/orders/{orderId}: an order in any status. */
export function getOrder(contract: Contract, store: Store): RouteHandler {
  return contract.validated<{ orderId: OrderId }>('getOrder', async (exchange, { parameters }) => {
    const [order] = await inTime(exchange, () => store.orders([parameters.orderId]));
    if (order === undefined) sendError(exchange, 'order_not_found');
    else sendRead(exchange, orderEtag(order), () => orderRecordJson(order));
  });
}
