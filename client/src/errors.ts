import type { ErrorCode, ErrorRecord, OrderRecord } from './records.ts';

/** What every error may know. */
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
  /**
   * X-Request-Id of the last request, by which the operators find it in their logs; undefined if nothing was sent.
   */
  readonly requestId: string | undefined;

  constructor(message: string, { requestId, ...options }: ErrorDetails = {}) {
    super(message, options);
    this.requestId = requestId;
  }
}

/** There is no complete response of the service: the connection failed, was cut off or timed out. */
export class ConnectionError extends StoreOrdersError {
  override readonly name: string = 'ConnectionError';
  /** Whether it is certain that the request was not sent: the connection was refused, or the host has no address. */
  readonly nothingSent: boolean;

  constructor(
    message: string,
    { nothingSent = false, ...details }: ErrorDetails & { readonly nothingSent?: boolean } = {},
  ) {
    super(message, details);
    this.nothingSent = nothingSent;
  }
}

/** The response did not begin in time, stopped arriving, or the call took longer than its `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = 'TimeoutError';
}

/**
 * The response is not one of the service, but of a proxy or another program: a page, a redirect, other JSON, or an error
 * that the operation does not have. It does not show whether the service has carried out the request.
 */
export class ForeignResponseError extends ConnectionError {
  override readonly name: string = 'ForeignResponseError';
  /** The HTTP status; 0 for a redirect in a browser. */
  readonly status: number;
  /** How long the response asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    details: ErrorDetails & { readonly status: number; readonly retryAfterMs?: number | undefined },
  ) {
    super(message, details);
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * It is unknown whether an order was placed, cancelled or shipped: after all repetitions, or when the call was aborted,
 * there was no answer of the service that tells. `cause` is the last error, or the reason of the signal. Read the order,
 * or repeat the call: a placement with the same idempotency key; a cancel or shipment has succeeded, too, if it is then a
 * ConflictError with `order`.
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

/** What a response that is not a success says. */
export interface ResponseDetails {
  readonly status: number;
  /** `unknown` if a proxy has answered 500 or above. */
  readonly code: ErrorCode;
  readonly message: string;
  readonly requestId: string | undefined;
  readonly problems: NonNullable<ErrorRecord['errors']>;
  readonly retryAfterMs: number | undefined;
  readonly order: OrderRecord | undefined;
  /** Of the order. */
  readonly etag: string;
}

/** The service refused the request. */
export class ResponseError extends StoreOrdersError {
  override readonly name: string = 'ResponseError';
  /** The HTTP status. */
  readonly status: number;
  /** See docs/errors.md of the service. */
  readonly code: ErrorCode;
  /** Every problem of the request's parameters and body; empty unless the status is 400. */
  readonly problems: NonNullable<ErrorRecord['errors']>;
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(details: ResponseDetails) {
    super(`${details.message} (${details.status} ${details.code})`, {
      requestId: details.requestId,
    });
    this.status = details.status;
    this.code = details.code;
    this.problems = details.problems;
    this.retryAfterMs = details.retryAfterMs;
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
   * The order, if this API key itself has changed it in the way that the call asks for: another call of yours, or a
   * proxy that has sent the request twice.
   */
  readonly order: (OrderRecord & { readonly etag: string }) | undefined;

  constructor(details: ResponseDetails) {
    super(details);
    const { order, etag } = details;
    this.order = order === undefined ? undefined : { ...order, etag };
  }
}

/** 410: the store does not have the change behind a cursor, or v1's pet lookup is gone. */
export class GoneError extends ResponseError {
  override readonly name = 'GoneError';
}

/** 412: the order has changed since its ETag was read. */
export class OrderChangedError extends ResponseError {
  override readonly name = 'OrderChangedError';
}

/** 429: the key has made as many cancels as it may; `retryAfterMs` says when the next is possible. */
export class LimitError extends ResponseError {
  override readonly name = 'LimitError';
}

/** 500, 502, 503 and the like: the service, or a proxy before it, cannot answer now. */
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

/** From 500 on, those that a repetition does not mend: another version of HTTP, and no ids left. */
const FINAL = [501, 505, 507];

/** Whether a status tells that the service, or a proxy before it, cannot answer now. */
export function isUnavailable(status: number): boolean {
  return status >= 500 && !FINAL.includes(status);
}

/** Returns the error of a response. */
export function responseError(details: ResponseDetails): ResponseError {
  const { status } = details;
  const Family = FAMILIES[status] ?? (isUnavailable(status) ? UnavailableError : ResponseError);
  return new Family(details);
}
