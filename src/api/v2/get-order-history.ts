import type { Contract } from '../../contract/contract.ts';
import { inTime } from '../../http/deadline.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { sendError } from '../../http/responses.ts';
import { toJson } from '../../json/to-json.ts';
import type { OrderId } from '../../orders/order.ts';
import { formatTimestamp } from '../../orders/timestamp.ts';
import type { Store } from '../../store/store.ts';
import { orderEtag, sendRead } from './responses.ts';

/** GET /store/orders/{orderId}/history: the events of an order, oldest first. */
export function getOrderHistory(contract: Contract, store: Store): RouteHandler {
  return contract.validated<{ orderId: OrderId }>(
    'getOrderHistory',
    async (exchange, { parameters: { orderId } }) => {
      const [order, history] = await inTime(exchange, () =>
        Promise.all([store.record(orderId), store.history(orderId)]),
      );
      if (order === undefined) {
        sendError(exchange, 'order_not_found');
        return;
      }
      // The order was read first: an event that came in between belongs to a later ETag.
      const events = history
        .filter(({ revision }) => revision <= order.revision)
        .map(({ type, at, revision, by }) => ({ type, at: formatTimestamp(at), revision, by }));
      sendRead(exchange, orderEtag(order), () => toJson({ reference: order.reference, events }));
    },
  );
}
