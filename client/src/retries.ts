import {
  ConnectionError,
  LimitError,
  ResponseError,
  StoreOrdersError,
  UnavailableError,
  UnknownOutcomeError,
} from './errors.ts';
import type { Settings } from './settings.ts';

/** The first wait is between half of this and all of it, each further one up to twice as long. */
const FIRST_WAIT_MS = 200;
const LONGEST_BACKOFF_MS = 5_000;

/** Responses that tell what became of an order, even if an earlier attempt went without an answer. */
const TELLING = [404, 409, 412, 422];

/** Calls `attempt` until it succeeds, fails with an error that repetition cannot mend, or `retries` are used up. */
export async function repeated<T>(
  settings: Settings,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const waitMs = tries < settings.retries ? waitBefore(error, tries) : undefined;
      if (waitMs === undefined || waitMs > settings.longestWaitMs) throw error;
      await pause(waitMs, signal);
    }
  }
}

/** A change that was made, or an error that tells that an earlier attempt has made it. */
export type Made<T> = { readonly result: T } | { readonly tellsSo: ResponseError };

/**
 * Like `repeated`, for a change of the store.
 * @param tellsSo whether the error of an attempt tells that the change holds; asked only if an earlier attempt may
 *   have made it
 * @throws UnknownOutcomeError if the change may have been made
 */
export async function repeatedChange<T>(
  settings: Settings,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
  tellsSo: (error: ResponseError) => boolean,
): Promise<Made<T>> {
  let isUnknown = false;
  try {
    return await repeated(settings, signal, async () => {
      try {
        return { result: await attempt() };
      } catch (error) {
        if (isUnknown && error instanceof ResponseError && tellsSo(error))
          return { tellsSo: error };
        isUnknown ||= error instanceof ConnectionError || error instanceof UnavailableError;
        throw error;
      }
    });
  } catch (error) {
    const tells = error instanceof ResponseError && TELLING.includes(error.status);
    if (!isUnknown || tells || !(error instanceof StoreOrdersError)) throw error;
    throw new UnknownOutcomeError('it is unknown whether the change was made', { cause: error });
  }
}

/** Returns how long to wait before a request is repeated, in milliseconds; undefined if that would not help. */
export function waitBefore(error: unknown, tries: number): number | undefined {
  const isTemporary =
    error instanceof ConnectionError ||
    error instanceof UnavailableError ||
    error instanceof LimitError ||
    (error instanceof ResponseError && error.status === 408);
  if (!isTemporary) return undefined;
  const asked = error instanceof ResponseError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(backoffMs(tries), asked);
}

/** Returns a wait that grows with the number of tries, with some chance so that clients do not come together. */
export function backoffMs(tries: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_BACKOFF_MS) * (0.5 + Math.random() / 2);
}

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
