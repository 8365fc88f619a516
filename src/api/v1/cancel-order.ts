import { inTime } from '../../http/deadline.ts';
import type { Exchange, Handle } from '../../http/exchange.ts';
import { sendEmpty, sendError } from '../../http/responses.ts';
import type { OrderOutcome } from '../../orders/batch.ts';
import type { OrderCommand } from '../../orders/lifecycle.ts';
import { parseInt64 } from '../../orders/order.ts';
import type { Batcher } from '../../store/batcher.ts';

/** DELETE /store/orders/{orderId}: 204 once the cancellation is durable. */
export function cancelOrder(batcher: Batcher<OrderCommand, OrderOutcome>): Handle {
  return async (exchange: Exchange) => {
    const id = parseInt64(exchange.parameters.orderId!);
    if (id === undefined) {
      sendError(exchange, 'invalid_order_id');
      return;
    }
    const by = exchange.apiKey!.id;
    const outcome = await inTime(exchange, () => batcher.submit({ type: 'cancel', id, by }));
    switch (outcome) {
      case 'cancelled':
        sendEmpty(exchange, 204);
        break;
      case 'order_not_found':
      case 'order_already_cancelled':
      case 'order_already_shipped':
        sendError(exchange, outcome);
        break;
      default:
        throw new Error(`unexpected outcome of a cancel: "${outcome}"`);
    }
  };
}
