import type { FastifyReply } from 'fastify';
import { StoreUnavailable } from '../store/store.ts';
import { ANSWER_WITHIN_MS } from './limits.ts';

/**
 * What `ask` gives, if it comes while the request can still be answered in time; what the store does
 * after that nobody waits for.
 * @throws StoreUnavailable when time is up; then `ask` may not even have been called.
 */
export async function inTime<T>(reply: FastifyReply, ask: () => Promise<T>): Promise<T> {
  return within(timeLeft(reply), ask);
}

/** Milliseconds in which the request can still be answered in time; may be negative. */
export function timeLeft(reply: FastifyReply): number {
  return ANSWER_WITHIN_MS - reply.elapsedTime;
}

/** @throws StoreUnavailable after `ms`; whatever `ask` throws. */
export function within<T>(ms: number, ask: () => Promise<T>): Promise<T> {
  if (ms <= 0) return Promise.reject(new StoreUnavailable('no time was left to ask the store'));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new StoreUnavailable('the store has not answered in time')),
      ms,
    );
    ask()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
