import { parseInt64 } from '../../domain/order.ts';
import { type Exchange, type Handle, inTime } from '../../http/request/exchange.ts';
import { type ErrorReply, type Reply, refuse, sendReply } from '../../http/request/reply.ts';
import type { Store } from '../../store/store.ts';
import { requiredRevision } from '../preconditions.ts';
import { cancellation, limitReached, type Submit } from '../submit.ts';

const CANCELLED: Reply = { status: 204, headers: [] };

/** DELETE /store/orders/{orderId}: 204 once the cancellation is durable. */
export function cancelOrder(store: Pick<Store, 'orders'>, submit: Submit): Handle {
  return async (exchange) => sendReply(exchange, await cancelled(exchange, store, submit));
}

async function cancelled(
  exchange: Exchange,
  store: Pick<Store, 'orders'>,
  submit: Submit,
): Promise<Reply | ErrorReply> {
  const id = parseInt64(exchange.parameters.orderId!);
  if (id === undefined) return refuse('invalid_order_id');
  const command = cancellation(exchange.apiKey!, id);
  const reading = requiredRevision(exchange.request, store, id);
  const ifRevision = reading && (await inTime(exchange, () => reading));
  // Absent rather than undefined: each field of a command is copied to the writer's thread.
  const asked = ifRevision === undefined ? command : { ...command, ifRevision };
  const outcome = await submit(exchange, asked);
  if (typeof outcome === 'object') return limitReached(outcome.refusal, outcome.retryAt);
  switch (outcome) {
    case 'cancelled':
      return CANCELLED;
    case 'order_not_found':
    case 'order_already_cancelled':
    case 'order_already_shipped':
    case 'order_changed':
      return refuse(outcome);
    default:
      throw new Error(`unexpected outcome of a cancel: "${outcome}"`);
  }
}
