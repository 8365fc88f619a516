import { parseInt64 } from '../../domain/order.ts';
import type { Exchange, Handle } from '../../http/request/exchange.ts';
import { sendEmpty, sendError } from '../../http/request/responses.ts';
import type { Store } from '../../store/store.ts';
import { cancelCommand, sendCancelLimitReached } from '../cancel-limit.ts';
import { preconditionsOf } from '../preconditions.ts';
import { type Submit, submitInTime } from '../submit.ts';

/** DELETE /store/orders/{orderId}: 204 once the cancellation is durable. */
export function cancelOrder(store: Pick<Store, 'orders'>, submit: Submit): Handle {
  return async (exchange: Exchange) => {
    const id = parseInt64(exchange.parameters.orderId!);
    if (id === undefined) {
      sendError(exchange, 'invalid_order_id');
      return;
    }
    const command = cancelCommand(exchange.apiKey!, id);
    const reading = preconditionsOf(exchange, store, id);
    const conditions = reading && (await reading);
    if (conditions?.refusal !== undefined) {
      sendError(exchange, conditions.refusal);
      return;
    }
    // Each field of a command is copied to the writer's thread.
    const asked = conditions === undefined ? command : { ...command, ...conditions };
    const outcome = await submitInTime(exchange, submit, asked);
    if (typeof outcome === 'object') {
      sendCancelLimitReached(exchange, outcome.retryAt);
      return;
    }
    switch (outcome) {
      case 'cancelled':
        sendEmpty(exchange, 204);
        break;
      case 'order_not_found':
      case 'order_already_cancelled':
      case 'order_already_shipped':
      case 'order_changed':
        sendError(exchange, outcome);
        break;
      default:
        throw new Error(`unexpected outcome of a cancel: "${outcome}"`);
    }
  };
}
