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

/**
 * Like `repeated`, for a change of the store.
 * @param settle called for the error of an attempt if an earlier one may have made the change; returns the result if
 *   the error tells that it has
 * @throws UnknownOutcomeError if the change may have been made
 */
export async function repeatedChange<T>(
  settings: Settings,
  signal: AbortSignal | undefined,
  {
    attempt,
    settle,
  }: { attempt: () => Promise<T>; settle: (error: ResponseError) => Promise<T> | undefined },
): Promise<T> {
  let isUnknown = false;
  try {
    return await repeated(settings, signal, async () => {
      try {
        return await attempt();
      } catch (error) {
        const settled = isUnknown && error instanceof ResponseError ? settle(error) : undefined;
        if (settled !== undefined) return settled;
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
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_BACKOFF_MS);
  const jittered = backoff * (0.5 + Math.random() / 2);
  const asked = error instanceof ResponseError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(jittered, asked);
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
