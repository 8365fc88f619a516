import type { FastifyRequest } from 'fastify';
import { StoreUnavailable } from '../store/store.ts';

/**
 * What `ask` gives, if it comes while the request can still be answered in time; what the store does
 * after that nobody waits for.
 * @throws StoreUnavailable when time is up; then `ask` may not even have been called.
 */
export function inTime<T>(request: FastifyRequest, ask: () => Promise<T>): Promise<T> {
  return within(timeLeft(request), ask);
}

/** Milliseconds in which the request can still be answered in time; may be negative. */
export function timeLeft({ answerBy }: FastifyRequest): number {
  return answerBy - performance.now();
}

/** @throws StoreUnavailable after `ms`; whatever `ask` throws. */
export function within<T>(ms: number, ask: () => Promise<T>): Promise<T> {
  if (ms <= 0) return Promise.reject(new StoreUnavailable('no time was left to ask the store'));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new StoreUnavailable('the store has not answered in time')),
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
