import { StoreUnavailable } from '../store/store.ts';
import type { Exchange } from './exchange.ts';

/**
 * What `ask` gives, if it comes while the request can still be answered in time; what the store does
 * after that nobody waits for.
 * @throws StoreUnavailable when time is up; then `ask` may not even have been called.
 */
export function inTime<T>(exchange: Exchange, ask: () => Promise<T>): Promise<T> {
  return within(timeLeft(exchange), ask);
}

/** Milliseconds in which the request can still be answered in time; may be negative. */
export function timeLeft({ answerBy }: Exchange): number {
  return answerBy - performance.now();
}

/** @throws StoreUnavailable after `ms`; whatever `ask` throws. */
export function within<T>(ms: number, ask: () => Promise<T>): Promise<T> {
  if (ms <= 0)
    return Promise.reject(new StoreUnavailable('no time was left to ask the store', 'slow'));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new StoreUnavailable('the store has not answered in time', 'slow')),
      ms,
    );
    ask().then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
