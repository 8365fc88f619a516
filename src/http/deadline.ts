import { within } from '../store/within.ts';
import type { Exchange } from './exchange.ts';

/**
 * Resolves to what `ask` resolves to, within the time in which the request has to be answered.
 * @throws StoreUnavailable when time is up; then `ask` may not have been called
 */
export function inTime<T>(exchange: Exchange, ask: () => Promise<T>): Promise<T> {
  return within(timeLeft(exchange), ask);
}

/** Milliseconds left to answer the request; may be negative. */
export function timeLeft({ answerBy }: Exchange): number {
  return answerBy - performance.now();
}
