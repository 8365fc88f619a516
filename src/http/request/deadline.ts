import { withTimeout } from '../../concurrency/timeout.ts';
import type { Exchange } from './exchange.ts';

/**
 * Calls `ask` and waits for its result until the deadline of the request.
 * @throws TimedOut after the deadline; if it had passed before, `ask` is not called
 */
export function inTime<T>(exchange: Exchange, ask: () => Promise<T>): Promise<T> {
  return withTimeout(timeLeft(exchange), ask);
}

/** Returns the milliseconds until the deadline of the request; may be negative. */
export function timeLeft({ answerBy }: Exchange): number {
  return answerBy - performance.now();
}
