/** Thrown when a time limit is reached; whether the operation succeeds is unknown. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** An operation that has not ended yet. */
interface Pending {
  /** By performance.now(). */
  readonly until: number;
  readonly giveUp: () => void;
}

/** How often time limits are checked, which is how late an operation can be given up. */
const CHECK_INTERVAL_MS = 20;

/** Most operations take less time than starting and stopping a timer: one timer checks all of them. */
const pending = new Set<Pending>();
let timer: NodeJS.Timeout | undefined;

function checkLimits(): void {
  const now = performance.now();
  for (const { until, giveUp } of pending) if (now >= until) giveUp();
  if (pending.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/**
 * Calls `start` and resolves to its result, with a time limit. The operation is not cancelled when the time is up.
 * @param ms limit; if it is not positive, `start` is not called
 * @throws TimedOut after `ms`; also whatever `start` throws
 */
export function withTimeout<T>(ms: number, start: () => Promise<T>): Promise<T> {
  if (ms <= 0) return Promise.reject(new TimedOut('the time was up before the operation began'));
  return new Promise((resolve, reject) => {
    const own: Pending = {
      until: performance.now() + ms,
      giveUp: () => {
        pending.delete(own);
        reject(new TimedOut(`no result within ${Math.round(ms)} ms`));
      },
    };
    pending.add(own);
    timer ??= setInterval(checkLimits, CHECK_INTERVAL_MS);
    start().then(
      (result) => {
        pending.delete(own);
        resolve(result);
      },
      (error) => {
        pending.delete(own);
        reject(error);
      },
    );
  });
}
