/** Thrown when a time limit is reached; whether the operation succeeds is unknown. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/**
 * Calls `start` and resolves to its result, with a time limit. The operation is not cancelled when the time is up.
 * @param ms limit; if it is not positive, `start` is not called
 * @throws TimedOut after `ms`; also whatever `start` throws
 */
export function withTimeout<T>(ms: number, start: () => Promise<T>): Promise<T> {
  if (ms <= 0) return Promise.reject(new TimedOut('the time was up before the operation began'));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new TimedOut(`no result within ${Math.round(ms)} ms`)),
      ms,
    );
    start().then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
