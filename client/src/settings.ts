import type { OperationName } from '../../protocol/generated/error-codes.ts';
import { count, duration, functionOf, plainObject } from './arguments.ts';
import type { StoreOrdersError } from './errors.ts';
import { expectExactIntegers } from './exact-json.ts';

/** Header names and values. */
export type HeaderValues = Readonly<Record<string, string>>;

/** A request that was sent. */
export interface SentRequest {
  /** The operation, such as `cancelOrder`, or `v1.cancelOrder`. */
  readonly operation: OperationName;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Without the query. */
  readonly path: string;
  /** X-Request-Id. */
  readonly requestId: string;
  /** 1 for the first request of a call. */
  readonly attempt: number;
}

/** A response whose head has arrived, from the service or another program. */
export interface ReceivedResponse extends SentRequest {
  readonly status: number;
  /** From the request to the head of the response. */
  readonly durationMs: number;
}

/** A request that will be retried. */
export interface PlannedRetry extends SentRequest {
  /** The error that caused the retry. */
  readonly error: StoreOrdersError;
  /** Delay before the retry, in milliseconds. */
  readonly waitMs: number;
}

/** How to reach the service. */
export interface StoreOrdersOptions {
  /** The address of the service, such as https://api.store.example; a version at its end is ignored. */
  readonly baseUrl: string | URL;
  /** so_live_… or so_test_… */
  readonly apiKey: string;
  /** Sends the requests; `fetch` by default. */
  readonly fetch?: typeof fetch | undefined;
  /** Maximum number of retries of a request; 5 by default. */
  readonly retries?: number | undefined;
  /**
   * Maximum delay before a retry, in milliseconds; 30,000 by default. If the service requests a longer one, the call
   * fails.
   */
  readonly longestWaitMs?: number | undefined;
  /** How long a response may take to begin, in milliseconds; 10,000 by default. */
  readonly headersTimeoutMs?: number | undefined;
  /**
   * Timeout while no data of a response arrives, in milliseconds; 30,000 by default. Also the timeout for a whole record or
   * page to arrive.
   */
  readonly gapTimeoutMs?: number | undefined;
  /** Headers of every request, in addition to the library's own. */
  readonly headers?: HeaderValues | undefined;
  /** Called for every response, for logs and metrics. Errors that it throws are printed, and do not affect the call. */
  readonly onResponse?: ((response: ReceivedResponse) => void) | undefined;
  /** Called before every delay for a retry, for logs and metrics; errors are handled as for onResponse. */
  readonly onRetry?: ((retry: PlannedRetry) => void) | undefined;
}

/** Options of a call. */
export interface CallOptions {
  /**
   * Ends the call, which then rejects with the signal's reason; or with UnknownOutcomeError if it is a change that may
   * have been sent.
   */
  readonly signal?: AbortSignal | undefined;
  /** How long the call may take in all, in milliseconds; no limit by default. */
  readonly timeoutMs?: number | undefined;
  /** Replaces the `retries` of the client. */
  readonly retries?: number | undefined;
  /** Added to the headers of the client. */
  readonly headers?: HeaderValues | undefined;
}

export type Settings = Readonly<ReturnType<typeof settingsOf>>;

/** Headers that the library, or fetch, sets itself. */
const OWN_HEADERS = [
  'accept',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'keep-alive',
  'last-event-id',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
];

/** @throws TypeError for options that cannot be used; StoreOrdersError in a runtime that rounds ids */
export function settingsOf(options: StoreOrdersOptions) {
  expectExactIntegers();
  plainObject(options, 'the argument of StoreOrders');
  const { apiKey } = options;
  // Other characters would make `fetch` fail with an error that shows the key.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be an API key, such as so_live_…');
  }
  return {
    root: rootOf(options.baseUrl),
    apiKey,
    fetch: functionOf(options.fetch, 'fetch') ?? ((input, init) => fetch(input, init)),
    retries: count(options.retries, 5, 'retries'),
    longestWaitMs: count(options.longestWaitMs, 30_000, 'longestWaitMs'),
    headersTimeoutMs: duration(options.headersTimeoutMs, 10_000, 'headersTimeoutMs'),
    gapTimeoutMs: duration(options.gapTimeoutMs, 30_000, 'gapTimeoutMs'),
    headers: extraHeaders(options.headers),
    onResponse: harmless(functionOf(options.onResponse, 'onResponse')),
    onRetry: harmless(functionOf(options.onRetry, 'onRetry')),
  };
}

/** Returns the address without a slash at its end. @throws TypeError */
function rootOf(baseUrl: string | URL): string {
  const isText = typeof baseUrl === 'string' || baseUrl instanceof URL;
  const url = isText && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new TypeError(
      'baseUrl must be the address of the service, such as https://api.store.example',
    );
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new TypeError('baseUrl must have no query, fragment or credentials');
  }
  return url.href.replace(/\/+$/, '').replace(/\/v[12]$/, '');
}

/**
 * Returns headers with their names in lower case.
 * @throws TypeError for headers that cannot be sent, or that the library sets itself
 */
export function extraHeaders(headers: HeaderValues = {}): HeaderValues {
  plainObject(headers, 'headers');
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') throw new TypeError(`the header ${name} must be a string`);
    if (OWN_HEADERS.includes(name.toLowerCase())) {
      throw new TypeError(`the header ${name} is set by the library`);
    }
  }
  // Throws a TypeError for names and values that cannot be sent.
  return Object.fromEntries(new Headers(headers));
}

/** Returns a hook whose errors, synchronous or not, do not change the result of a call. */
export function harmless<T>(hook: ((event: T) => unknown) | undefined): (event: T) => void {
  return (event) => {
    const calling = async () => hook?.(event);
    calling().catch((error) => {
      console.error('a hook of the store-orders client has failed', error);
    });
  };
}
