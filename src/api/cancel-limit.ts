import type { ApiKey } from '../domain/api-key.ts';
import type { OrderId } from '../domain/order.ts';
import type { Exchange } from '../http/request/exchange.ts';
import { sendError } from '../http/request/responses.ts';

/** The command that cancels an order for the client with this key. */
export function cancelCommand({ id: by, cancelsPerHour }: ApiKey, id: OrderId) {
  // Most keys have no limit. Each field of a command is copied to the writer's thread.
  const limit = cancelsPerHour === undefined ? undefined : { cancelsPerHour };
  return { type: 'cancel', id, by, ...limit } as const;
}

/** Sends 429 with Retry-After. @param retryAt when the key may cancel again, in milliseconds since the epoch */
export function sendCancelLimitReached(exchange: Exchange, retryAt: number): void {
  sendError(exchange, 'cancel_limit_reached', ['retry-after', secondsUntil(retryAt)]);
}

/** The value of Retry-After. @param at milliseconds since the epoch */
export function secondsUntil(at: number): string {
  return String(Math.max(1, Math.ceil((at - Date.now()) / 1000)));
}
