import { TimedOut, withTimeout } from '../../concurrency.ts';
import type { Exchange } from './exchange.ts';

/**
 * Calls `ask` and waits for its result until the deadline of the request. The work itself goes on.
 * @throws TimedOut after the deadline; if it had passed before, `ask` is not called
 */
export async function inTime<T>(
  request: Pick<Exchange, 'answerBy'>,
  ask: () => Promise<T>,
): Promise<T> {
  const result = await withTimeout(timeLeft(request), ask);
  // The timer can be late, but no result counts after the deadline.
  if (timeLeft(request) <= 0) throw new TimedOut('no result before the deadline of the request');
  return result;
}

/** @throws TimedOut after the deadline of a request: its client has got a 503, so no further work is begun for it */
export function expectTime(request: Pick<Exchange, 'answerBy'>): void {
  if (timeLeft(request) <= 0) throw new TimedOut('the time was up before the operation began');
}

/** Returns the milliseconds until the deadline of the request; may be negative. */
export function timeLeft({ answerBy }: Pick<Exchange, 'answerBy'>): number {
  return answerBy - performance.now();
}
