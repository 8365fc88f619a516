import type { OperationName } from '../../protocol/generated/error-codes.ts';
import { type Call, calling } from './call.ts';
import {
  ConnectionError,
  ForeignResponseError,
  LimitError,
  ResponseError,
  type StoreOrdersError,
  UnavailableError,
  UnknownOutcomeError,
} from './errors.ts';
import { type Reply, type Request, send } from './request.ts';
import type { CallOptions, Settings } from './settings.ts';

/** The first wait is between half of this and all of it, each further one up to twice as long. */
const FIRST_WAIT_MS = 200;
const LONGEST_BACKOFF_MS = 5_000;

/** Errors that show the outcome even if an earlier attempt got no response. */
const SETTLING = [
  'order_not_found',
  'invalid_order_id',
  'order_already_cancelled',
  'order_already_shipped',
  'order_changed',
  'reference_differs',
  'reference_taken',
  'orders_not_changed',
  'idempotency_key_reused',
];

/** Calls `attempt` until it succeeds, fails with an error that a retry cannot resolve, or the retries are used up. */
export async function repeated<T>(call: Call, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTemporary(error) || tries >= call.retries) throw error;
      const waitMs = waitBefore(error, tries);
      if (waitMs > call.settings.longestWaitMs) throw error;
      await call.pause(waitMs, error);
    }
  }
}

/** Calls `attempt` until it succeeds or fails with an error that a retry cannot resolve, however long that takes. */
export async function persistently<T>(call: Call, attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      await waitOut(call, error, tries);
    }
  }
}

/** Waits before a retry, for at most about `longestWaitMs`. @throws `error` if a retry cannot resolve it */
export async function waitOut(call: Call, error: unknown, tries: number): Promise<void> {
  if (!isTemporary(error)) throw error;
  const longestMs = Math.max(call.settings.longestWaitMs, FIRST_WAIT_MS);
  await call.pause(Math.min(waitBefore(error, tries), longestMs), error);
}

/** How a change of the store is retried. */
export interface Change<T> {
  /**
   * Returns the result of the change if the error of an attempt shows that an earlier attempt has made it; called only if
   * that is possible.
   */
  readonly resultIn?: ((error: ResponseError) => T | undefined) | undefined;
  /** Of a placement. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Makes a call that changes the store.
 * @throws UnknownOutcomeError if the change may have been made
 */
export function changed<Name extends OperationName, T>(
  settings: Settings,
  options: CallOptions,
  request: Request<Name>,
  read: (reply: Reply<Name>) => T | Promise<T>,
  change: Change<T> = {},
): Promise<T> {
  return calling(settings, options, (call) =>
    repeatedChange(call, () => send(call, request, read), change),
  );
}

async function repeatedChange<T>(
  call: Call,
  attempt: () => Promise<T>,
  { resultIn = () => undefined, idempotencyKey }: Change<T>,
): Promise<T> {
  let isUnknown = false;
  try {
    return await repeated(call, async () => {
      call.signal.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        // The reason of an abort can be any error, even an error of another call.
        const isRefused = !call.isAbort(error) && isRefusal(error);
        const result = isUnknown && isRefused ? resultIn(error) : undefined;
        if (result !== undefined) return result;
        const isUnsent = error instanceof ConnectionError && error.nothingSent;
        isUnknown ||= !isRefused && (call.isAbort(error) || !isUnsent);
        throw error;
      }
    });
  } catch (error) {
    const isSettled = !call.isAbort(error) && isRefusal(error) && SETTLING.includes(error.code);
    if (!isUnknown || isSettled) throw error;
    const reason = error instanceof Error ? error.message : 'the call was aborted';
    throw new UnknownOutcomeError(`it is unknown whether the change was made: ${reason}`, {
      cause: error,
      requestId: call.requestId,
      idempotencyKey,
    });
  }
}

/** Whether the service has not carried out the request that got this error. */
function isRefusal(error: unknown): error is ResponseError {
  return error instanceof ResponseError && !error.isUnclear && !(error instanceof UnavailableError);
}

function isTemporary(error: unknown): error is StoreOrdersError {
  return (
    (error instanceof ConnectionError && !error.isFinal) ||
    error instanceof UnavailableError ||
    error instanceof LimitError ||
    (error instanceof ResponseError && error.status === 408)
  );
}

/** Returns how long to wait before a request is repeated, in milliseconds. */
function waitBefore(error: StoreOrdersError, tries: number): number {
  const hasAsked = error instanceof ResponseError || error instanceof ForeignResponseError;
  return Math.max(backoffMs(tries), (hasAsked && error.retryAfterMs) || 0);
}

/** Returns a delay that grows with the number of attempts, with jitter so that clients do not retry at the same time. */
export function backoffMs(tries: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_BACKOFF_MS) * (0.5 + Math.random() / 2);
}
