import { abortSignal, count, duration, plainObject, randomHex } from './arguments.ts';
import { type StoreOrdersError, TimeoutError } from './errors.ts';
import {
  type CallOptions,
  extraHeaders,
  type HeaderValues,
  type SentRequest,
  type Settings,
} from './settings.ts';

/** The longest delay that setTimeout supports; a longer one means no limit. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls `run` after `ms` milliseconds; never if `ms` exceeds MAX_TIMER_MS. */
export function timer(run: () => void, ms: number): ReturnType<typeof setTimeout> | undefined {
  return ms > MAX_TIMER_MS ? undefined : setTimeout(run, Math.max(0, ms));
}

/** Calls `run` once the signal is aborted, at once if it is aborted already. @returns a function that ends this */
export function whenAborted(signal: AbortSignal | undefined, run: () => void): () => void {
  if (signal?.aborted) run();
  signal?.addEventListener('abort', run, { once: true });
  return () => signal?.removeEventListener('abort', run);
}

/**
 * One call of a method, with the state that its requests share. `end` must be called when the call is over; it releases the signal and the
 * timer.
 */
export class Call {
  readonly settings: Settings;
  readonly retries: number;
  readonly headers: HeaderValues;
  /** Aborted by the signal of the options, or when the call times out. */
  readonly signal: AbortSignal;
  /** The last request that was sent. */
  last: SentRequest | undefined;
  /** Whether no request can have reached the service. */
  nothingSent = true;
  /** The beginning of the X-Request-Id of all its requests. */
  readonly #id = randomHex(8);
  readonly end: () => void;

  /** @throws TypeError for options that cannot be used */
  constructor(settings: Settings, options: CallOptions) {
    plainObject(options, 'the options of a call');
    const signal = abortSignal(options.signal);
    const timeoutMs = duration(options.timeoutMs, Number.POSITIVE_INFINITY, 'timeoutMs');
    this.settings = settings;
    this.retries = count(options.retries, settings.retries, 'retries');
    this.headers = { ...settings.headers, ...extraHeaders(options.headers) };
    const controller = new AbortController();
    this.signal = controller.signal;
    const release = whenAborted(signal, () => controller.abort(signal?.reason));
    const timeUp = timer(() => {
      const message = `the call took longer than ${timeoutMs} ms`;
      controller.abort(new TimeoutError(message, { requestId: this.requestId }));
    }, timeoutMs);
    this.end = () => {
      release();
      clearTimeout(timeUp);
    };
  }

  /** X-Request-Id of the last request. */
  get requestId(): string | undefined {
    return this.last?.requestId;
  }

  /** Describes the next request, immediately before it is sent. */
  next({
    operation,
    method,
    path,
  }: Pick<SentRequest, 'operation' | 'method' | 'path'>): SentRequest {
    const attempt = (this.last?.attempt ?? 0) + 1;
    const requestId = `${this.#id}.${attempt}`;
    this.last = { operation, method, path, requestId, attempt };
    return this.last;
  }

  /** Whether an error is the reason with which the call was aborted; any value can be a reason. */
  isAbort(error: unknown): boolean {
    return this.signal.aborted && error === this.signal.reason;
  }

  /** Waits before a retry; rejects with the signal's reason as soon as the signal is aborted. */
  async pause(waitMs: number, error: StoreOrdersError): Promise<void> {
    const { signal, settings, last } = this;
    if (last !== undefined) settings.onRetry({ ...last, error, waitMs });
    try {
      await pause(waitMs, signal);
    } catch (reason) {
      if (!(reason instanceof TimeoutError)) throw reason;
      const { requestId, nothingSent } = this;
      throw new TimeoutError(reason.message, { cause: error, requestId, nothingSent });
    }
  }
}

/** Makes one call. */
export async function calling<T>(
  settings: Settings,
  options: CallOptions,
  run: (call: Call) => Promise<T>,
): Promise<T> {
  const call = new Call(settings, options);
  try {
    return await run(call);
  } finally {
    call.end();
  }
}

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timeUp = timer(() => {
      release();
      resolve();
    }, ms);
    const release = whenAborted(signal, () => {
      clearTimeout(timeUp);
      reject(signal.reason);
    });
  });
}
