import type { Exchange } from '../http/exchange.ts';
import { sendError } from '../http/responses.ts';

/** Sends 429 with Retry-After. @param retryAt when the key may cancel again, in milliseconds since the epoch */
export function sendCancelLimitReached(exchange: Exchange, retryAt: number): void {
  const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1000));
  sendError(exchange, 'cancel_limit_reached', ['retry-after', String(seconds)]);
}
