import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Every code an Error record can carry, with its status and message. docs/errors.md explains them. */
const ERRORS = {
  bad_request: [400, 'The request is not valid HTTP, or its URL is malformed.'],
  api_key_missing: [401, 'An API key is required: send "Authorization: Bearer <key>".'],
  api_key_malformed: [401, 'The Authorization header must appear once and read "Bearer <key>".'],
  api_key_invalid: [401, 'This is not an API key of this service.'],
  api_key_expired: [401, 'This API key has expired.'],
  api_key_revoked: [401, 'This API key has been revoked.'],
  api_key_wrong_environment: [
    401,
    'This API key belongs to the other environment: so_live_ keys are for production, so_test_ keys for staging.',
  ],
  not_found: [404, 'There is nothing at this path.'],
  order_not_found: [404, 'There is no order with this id.'],
  order_already_cancelled: [404, 'This order has already been cancelled.'],
  invalid_order_id: [404, 'orderId must be an int64 in canonical decimal form.'],
  pet_not_found: [404, 'There is no pet with this id.'],
  invalid_pet_id: [404, 'petId must be an int64 in canonical decimal form.'],
  method_not_allowed: [405, 'This path does not support the method; see the Allow header.'],
  request_timeout: [408, 'The request did not arrive in time.'],
  order_already_shipped: [409, 'This order has already shipped and cannot be cancelled.'],
  pet_lookup_gone: [410, 'The pet lookup was deprecated and its sunset date has passed.'],
  body_too_large: [413, 'The request body is too large.'],
  uri_too_long: [414, 'The URL is too long.'],
  expectation_failed: [417, 'The only supported expectation is "100-continue".'],
  headers_too_large: [431, 'The request headers are too large.'],
  internal_error: [500, 'Something went wrong on our side; the X-Request-Id names this request.'],
  store_unavailable: [
    503,
    'The store cannot be reached or did not confirm in time, so the outcome is unknown; try again.',
  ],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

/** The contract's Error record. */
export interface ErrorRecord {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
}

export function errorRecord(code: ErrorCode): ErrorRecord {
  const [status, message] = ERRORS[code];
  return { code, message, status };
}

export function sendError(reply: FastifyReply, { code, headers }: HttpError): FastifyReply {
  const record = errorRecord(code);
  reply.code(record.status).headers({ ...errorHeaders(code), ...headers });
  // The rest of a body that nobody wants any more is not waited for.
  const { raw } = reply.request;
  if (hasBody(raw) && !raw.complete) reply.header('connection', 'close');
  return sendJson(reply, JSON.stringify(record));
}

/** A Buffer, because Fastify would add a charset, which JSON has none of: RFC 8259, section 11. */
export function sendJson(reply: FastifyReply, json: string): FastifyReply {
  return reply.header('content-type', 'application/json').send(Buffer.from(json));
}

/** An answer that is an Error record. `headers` go with it. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, headers: Readonly<Record<string, string>> = {}) {
    super(code);
    this.code = code;
    this.headers = headers;
  }
}

/** Seconds a client is asked to wait after a 503. */
const RETRY_AFTER_S = '1';

/** The headers of every Error record, beside Content-Type. Errors are news of a moment: not cached. */
export function errorHeaders(code: ErrorCode): Record<string, string> {
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (ERRORS[code][0] === 503) headers['retry-after'] = RETRY_AFTER_S;
  if (ERRORS[code][0] === 401) headers['www-authenticate'] = challenge(code);
  return headers;
}

/** RFC 6750, section 3: no error code when no credential was sent. */
function challenge(code: ErrorCode): string {
  const realm = 'Bearer realm="store-orders"';
  if (code === 'api_key_missing') return realm;
  const error = code === 'api_key_malformed' ? 'invalid_request' : 'invalid_token';
  return `${realm}, error="${error}", error_description="${ERRORS[code][1].replaceAll('"', "'")}"`;
}

/** RFC 9112, section 6: these two headers say that there is a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return (headers['content-length'] ?? '0') !== '0' || headers['transfer-encoding'] !== undefined;
}
