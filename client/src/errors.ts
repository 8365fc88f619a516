import type { ErrorCode, ErrorRecord } from './records.ts';

/** Base of the errors that this library throws, besides TypeError for wrong arguments and the reason of an abort. */
export class StoreOrdersError extends Error {
  override readonly name: string = 'StoreOrdersError';
}

/** There is no complete response: the connection failed, was cut off or timed out. */
export class ConnectionError extends StoreOrdersError {
  override readonly name: string = 'ConnectionError';
}

/** The response did not begin in time, or stopped arriving. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = 'TimeoutError';
}

/**
 * It is unknown whether an order was placed, cancelled or shipped: after all repetitions there was no answer that tells.
 * `cause` is the last error. Read the order, or repeat the call; a placement with the same idempotency key.
 */
export class UnknownOutcomeError extends StoreOrdersError {
  override readonly name: string = 'UnknownOutcomeError';
}

/** What a response that is not a success says. */
export interface ResponseDetails {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly requestId: string | undefined;
  readonly problems: NonNullable<ErrorRecord['errors']>;
  readonly retryAfterMs: number | undefined;
}

/** The service refused the request. */
export class ResponseError extends StoreOrdersError {
  override readonly name: string = 'ResponseError';
  /** The HTTP status. */
  readonly status: number;
  /** See docs/errors.md of the service. */
  readonly code: ErrorCode;
  /** X-Request-Id of the response; name it when you ask the operators. */
  readonly requestId: string | undefined;
  /** Every problem of the request's parameters and body; empty unless the status is 400. */
  readonly problems: NonNullable<ErrorRecord['errors']>;
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(details: ResponseDetails) {
    super(`${details.message} (${details.status} ${details.code})`);
    this.status = details.status;
    this.code = details.code;
    this.requestId = details.requestId;
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

/** Returns the error of a response. */
export function responseError(details: ResponseDetails): ResponseError {
  const { status } = details;
  const isTemporary = status >= 500 && !FINAL.includes(status);
  const Family = FAMILIES[status] ?? (isTemporary ? UnavailableError : ResponseError);
  return new Family(details);
}
