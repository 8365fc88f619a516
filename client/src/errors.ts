import type { ErrorCode, ErrorRecord, OrderRecord } from '../../protocol/generated/records.ts';

/** Details that every error can have. */
interface ErrorDetails {
  readonly cause?: unknown;
  readonly requestId?: string | undefined;
}

/**
 * Base of the errors that this library throws, besides TypeError for wrong arguments and, for a call that has changed
 * nothing, the reason of its aborted signal.
 */
export class StoreOrdersError extends Error {
  override readonly name: string = 'StoreOrdersError';
  /** X-Request-Id of the last request, for finding it in the logs of the service; undefined if nothing was sent. */
  readonly requestId: string | undefined;

  constructor(message: string, { requestId, ...options }: ErrorDetails = {}) {
    super(message, options);
    this.requestId = requestId;
  }
}

interface ConnectionDetails extends ErrorDetails {
  readonly nothingSent?: boolean;
  readonly isFinal?: boolean;
}

/** No complete response of the service arrived: the connection failed, was closed early or timed out. */
export class ConnectionError extends StoreOrdersError {
  override readonly name: string = 'ConnectionError';
  /**
   * Whether it is certain that the request was not sent: the connection was refused, the host has no address, or no TLS connection
   * could be made.
   */
  readonly nothingSent: boolean;
  /** Whether repeating is useless: the certificate of the host is not valid, the host has no TLS, or the response is a permanent redirect. */
  readonly isFinal: boolean;

  constructor(
    message: string,
    { nothingSent = false, isFinal = false, ...details }: ConnectionDetails = {},
  ) {
    super(message, details);
    this.nothingSent = nothingSent;
    this.isFinal = isFinal;
  }
}

/** The response did not begin in time, stopped arriving, or the call took longer than its `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = 'TimeoutError';
}

/**
 * The response does not come from the service but from a proxy or another program: a page, a redirect, other JSON, or an error that the
 * operation does not have, without the headers of the service. It is unknown whether the service has carried out the request.
 */
export class ForeignResponseError extends ConnectionError {
  override readonly name: string = 'ForeignResponseError';
  /** The HTTP status; 0 for a redirect in a browser. */
  readonly status: number;
  /** The delay in Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    details: ConnectionDetails & {
      readonly status: number;
      readonly retryAfterMs?: number | undefined;
    },
  ) {
    super(message, details);
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * The changes do not lead to the head in the cursor after them: the history of the store was altered, or the response was altered on its way. No
 * retry resolves this. None of these changes was yielded or stored.
 */
export class HistoryMismatchError extends StoreOrdersError {
  override readonly name = 'HistoryMismatchError';
  /** The cursor up to which the history is verified. */
  readonly after: string;
  /** The cursor after the changes, as the service sent it. */
  readonly cursor: string;

  constructor(
    message: string,
    {
      after,
      cursor,
      ...details
    }: ErrorDetails & { readonly after: string; readonly cursor: string },
  ) {
    super(message, details);
    this.after = after;
    this.cursor = cursor;
  }
}

/**
 * It is unknown whether an order was placed, cancelled or shipped: no response of the service showed the outcome before the
 * retries were used up or the call was aborted. `cause` is the last error, or the reason of the signal. Read the order, or
 * repeat the call: a placement with the same idempotency key. If a repeated cancel or shipment rejects with a ConflictError
 * that has an `order`, the earlier call has succeeded.
 */
export class UnknownOutcomeError extends StoreOrdersError {
  override readonly name: string = 'UnknownOutcomeError';
  /** Of a placement: pass it to `placeOrder` to repeat it. */
  readonly idempotencyKey: string | undefined;

  constructor(
    message: string,
    { idempotencyKey, ...details }: ErrorDetails & { readonly idempotencyKey?: string | undefined },
  ) {
    super(message, details);
    this.idempotencyKey = idempotencyKey;
  }
}

/** Details of a response that is not a success. */
export interface ResponseDetails {
  readonly status: number;
  /** `unknown` if a proxy has answered 500 or above. */
  readonly code: ErrorCode;
  readonly message: string;
  readonly requestId: string | undefined;
  readonly problems: NonNullable<ErrorRecord['errors']>;
  readonly retryAfterMs: number | undefined;
  readonly order: OrderRecord | undefined;
  /** Whether a later release of the service has added the error, so that it is not known if a change was made: docs/stability.md of the service. */
  readonly isUnclear?: boolean;
}

/** The service refused the request. */
export class ResponseError extends StoreOrdersError {
  override readonly name: string = 'ResponseError';
  /** The HTTP status. */
  readonly status: number;
  /** See docs/errors.md of the service. */
  readonly code: ErrorCode;
  /** All problems with the parameters and the body of the request, or with the orders of an atomic one; empty unless the status is 400 or 409. */
  readonly problems: NonNullable<ErrorRecord['errors']>;
  /** How long to wait before a retry, by Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /**
   * Whether the code is not known to this release of the library, so that a change may have been made all the same. False also for an unknown 4xx
   * status, which is a refusal.
   */
  readonly isUnclear: boolean;

  constructor(details: ResponseDetails) {
    super(`${details.message} (${details.status} ${details.code})`, {
      requestId: details.requestId,
    });
    this.status = details.status;
    this.code = details.code;
    this.problems = details.problems;
    this.retryAfterMs = details.retryAfterMs;
    this.isUnclear = details.isUnclear === true;
  }
}

/** 400, 413, 415, 422: the request is wrong. */
export class InvalidRequestError extends ResponseError {
  override readonly name = 'InvalidRequestError';
}

/** 401: the key is missing, malformed, unknown, expired, revoked or of another environment. */
export class AuthenticationError extends ResponseError {
  override readonly name = 'AuthenticationError';
}

/** 403: the key may not do this. */
export class ForbiddenError extends ResponseError {
  override readonly name = 'ForbiddenError';
}

/** 404: there is no such order, or in v1 it is cancelled already. */
export class NotFoundError extends ResponseError {
  override readonly name = 'NotFoundError';
}

/** 409: the order has shipped, or is cancelled. */
export class ConflictError extends ResponseError {
  override readonly name = 'ConflictError';
  /**
   * The order, if this API key has already made the requested change: by another call, or because a proxy sent the request
   * twice.
   */
  readonly order: OrderRecord | undefined;

  constructor(details: ResponseDetails) {
    super(details);
    this.order = details.order;
  }
}

/** 410: the cursor is no longer valid, since the store was restored or lost changes; or v1's pet lookup has ended. */
export class GoneError extends ResponseError {
  override readonly name = 'GoneError';
}

/** 412: the order has changed since its ETag was read. */
export class OrderChangedError extends ResponseError {
  override readonly name = 'OrderChangedError';
}

/** 429: the key has reached a limit, which `code` names: of cancels, placements, streams, or reads at a time. `retryAfterMs` is the time to wait. */
export class LimitError extends ResponseError {
  override readonly name = 'LimitError';
}

/** 500, 502, 503 and similar: the service, or a proxy in front of it, cannot respond now. */
export class UnavailableError extends ResponseError {
  override readonly name = 'UnavailableError';
}

const FAMILIES: Readonly<Record<number, new (details: ResponseDetails) => ResponseError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  412: OrderChangedError,
  413: InvalidRequestError,
  415: InvalidRequestError,
  422: InvalidRequestError,
  429: LimitError,
};

/** Statuses from 500 on that a retry does not resolve, such as an unsupported HTTP version, and no ids left. */
const FINAL = [501, 505, 507];

/** Whether a status means that the service, or a proxy in front of it, cannot respond now. */
export function isUnavailable(status: number): boolean {
  return status >= 500 && !FINAL.includes(status);
}

/** Returns the error of a response. */
export function responseError(details: ResponseDetails): ResponseError {
  const { status } = details;
  const Family = FAMILIES[status] ?? (isUnavailable(status) ? UnavailableError : ResponseError);
  return new Family(details);
}
