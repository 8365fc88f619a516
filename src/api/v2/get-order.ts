import type { Contract } from '../../contract/contract.ts';
import { inTime } from '../../http/deadline.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { sendError } from '../../http/responses.ts';
import type { OrderId } from '../../orders/order.ts';
import type { Store } from '../../store/store.ts';
import { orderEtag } from '../etags.ts';
import { orderRecordJson } from './records.ts';
import { sendRead } from './responses.ts';

/** GET /store/orders/{orderId}: an order in any status. */
export function getOrder(contract: Contract, store: Store): RouteHandler {
  return contract.validated<{ orderId: OrderId }>('getOrder', async (exchange, { parameters }) => {
    const order = await inTime(exchange, () => store.record(parameters.orderId));
    if (order === undefined) sendError(exchange, 'order_not_found');
    else sendRead(exchange, orderEtag(order), () => orderRecordJson(order));
  });
}
