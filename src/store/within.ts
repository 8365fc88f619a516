import { StoreUnavailable } from './store.ts';

/**
 * Resolves to what `ask` resolves to. The operation itself is not cancelled when time is up.
 * @param ms if not positive, `ask` is not called
 * @throws StoreUnavailable after `ms`; whatever `ask` throws
 */
export function within<T>(ms: number, ask: () => Promise<T>): Promise<T> {
  if (ms <= 0) {
    return Promise.reject(
      new StoreUnavailable('the request timed out before the store was asked', 'slow'),
    );
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new StoreUnavailable('the store has not answered in time', 'slow')),
      ms,
    );
    ask()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
