import { toJson } from '../../protocol/exact-json.ts';
import type { CommandRefusal } from '../domain/bulk.ts';

type Entry = readonly [status: number, message: string, code?: string];

/**
 * The refusals of requests: status and message of the Error record, and its code if it differs from the name. The log has the code, and the name
 * if it is more specific. Documented in docs/errors.md.
 */
const ERRORS = {
  bad_request: [400, 'The request is not valid HTTP, or its URL is malformed.'],
  parameter_invalid: [400, 'A parameter is not valid; "errors" has every problem.'],
  body_invalid: [400, 'The request body is not valid; "errors" has every problem.'],
  cursor_invalid: [400, 'This cursor is malformed, or belongs to other parameters.'],
  idempotency_key_missing: [
    400,
    'An Idempotency-Key header is required, so that the request can be retried safely.',
  ],
  api_key_missing: [401, 'An API key is required: send "Authorization: Bearer <key>".'],
  api_key_malformed: [401, 'The Authorization header must appear once and read "Bearer <key>".'],
  api_key_invalid: [401, 'This is not an API key of this service.'],
  api_key_expired: [401, 'This API key has expired.'],
  api_key_revoked: [401, 'This API key has been revoked.'],
  api_key_wrong_environment: [
    401,
    'This API key belongs to the other environment: so_live_ keys are for production, so_test_ keys for staging.',
  ],
  scope_missing: [403, 'This API key does not have the scope that the operation needs.'],
  not_found: [404, 'There is nothing at this path.'],
  order_not_found: [404, 'There is no order with this id.'],
  order_already_cancelled: [404, 'This order has already been cancelled.'],
  invalid_order_id: [404, 'orderId must be an int64 in canonical decimal form.'],
  webhook_not_found: [404, 'There is no webhook with this id.'],
  pet_not_found: [404, 'There is no pet with this id.'],
  invalid_pet_id: [404, 'petId must be an int64 in canonical decimal form.'],
  method_not_allowed: [405, 'This path does not support the method; see the Allow header.'],
  request_timeout: [408, 'The request did not arrive in time.'],
  order_already_shipped: [409, 'This order has already shipped and cannot be cancelled.'],
  orders_not_changed: [
    409,
    'No order was changed, since some cannot be; "errors" has the reasons of up to 100 of them.',
  ],
  reference_taken: [
    409,
    'This API key has placed another order with this reference; its content differs.',
  ],
  webhook_url_taken: [409, 'This API key has a webhook with this URL already.'],
  webhook_limit_reached: [409, 'This API key has as many webhooks as one key can have.'],
  too_many_webhooks: [409, 'The store has as many webhooks as it can have.'],
  pet_lookup_gone: [410, 'The pet lookup was deprecated and its sunset date has passed.'],
  changes_gone: [
    410,
    'This cursor is no longer valid: the store was restored or lost changes. Read all orders again.',
  ],
  order_changed: [412, 'The order has changed since the ETag in If-Match was read.'],
  precondition_failed: [
    412,
    'Nothing was changed: If-None-Match names the present state, or If-Match names a state that this resource does not have.',
  ],
  webhook_changed: [412, 'The webhook has changed since the ETag in If-Match was read.'],
  reference_differs: [412, 'The order does not have the reference in the request.'],
  body_too_large: [413, 'The request body is too large.'],
  uri_too_long: [414, 'The URL is too long.'],
  unsupported_media_type: [
    415,
    'The request body must be application/json in UTF-8, without a content coding.',
  ],
  expectation_failed: [417, 'The only supported expectation is "100-continue".'],
  idempotency_key_reused: [422, 'This Idempotency-Key was used with another request.'],
  cancel_limit_reached: [
    429,
    'This API key has reached its limit of cancels per hour. Retry after the time in Retry-After.',
  ],
  place_limit_reached: [
    429,
    'This API key has reached its limit of placements per hour. Retry after the time in Retry-After.',
  ],
  read_limit_reached: [
    429,
    'This API key has too many requests for pages or counts at a time. Retry after the time in Retry-After.',
  ],
  headers_too_large: [431, 'The request headers are too large.'],
  internal_error: [500, 'Something went wrong on our side; the X-Request-Id names this request.'],
  store_unavailable: [
    503,
    'The store cannot be reached or did not confirm in time, so the outcome is unknown; try again.',
  ],
  list_not_read: [
    503,
    'The list is being read; retry after the time in Retry-After.',
    'store_unavailable',
  ],
  webhooks_unavailable: [
    503,
    'Webhooks are not set up on this service: its webhook key is missing, or another one.',
  ],
  too_many_tests: [503, 'Too many webhooks are tested at the same time; try again.'],
  no_ids_left: [507, 'No order can be placed: the store has no ids left for new orders.'],
  too_many_streams: [503, 'There are too many open streams on this node.'],
  stream_limit_reached: [429, 'This API key has too many open streams on this node.'],
  http_version_not_supported: [505, 'This HTTP version is not supported; use HTTP/1.1.'],
  // Of v2. In v1, which is frozen, they have another status or message.
  cancel_already_cancelled: [
    409,
    'This order has already been cancelled.',
    'order_already_cancelled',
  ],
  ship_already_cancelled: [
    409,
    'This order has been cancelled and cannot ship.',
    'order_already_cancelled',
  ],
  ship_already_shipped: [409, 'This order has already shipped.', 'order_already_shipped'],
  // The causes of a bad request.
  bad_method: [400, 'Unknown HTTP method; methods are uppercase.', 'bad_request'],
  bad_url: [
    400,
    'The URL is malformed: characters beyond ASCII, spaces and broken "%" must be percent-encoded.',
    'bad_request',
  ],
  url_host: [400, 'An absolute URL must have a valid host, and no credentials.', 'bad_request'],
  url_fragment: [400, 'The URL must not contain a fragment ("#").', 'bad_request'],
  bad_request_line: [
    400,
    'The request line is malformed; it must be "METHOD URL HTTP/1.1" with single spaces, followed by CRLF.',
    'bad_request',
  ],
  bad_header: [
    400,
    'A header is malformed; it must be "Name: value" without a space before the colon or control characters, followed by CRLF.',
    'bad_request',
  ],
  host_missing: [400, 'The Host header is missing.', 'bad_request'],
  host_repeated: [400, 'The Host header must be sent once.', 'bad_request'],
  host_malformed: [
    400,
    'The Host header must be a host name or an IP address, with an optional port.',
    'bad_request',
  ],
  bad_framing: [
    400,
    'Content-Length and Transfer-Encoding are invalid, repeated or conflicting.',
    'bad_request',
  ],
  bad_chunks: [400, 'The chunked encoding of the body is malformed.', 'bad_request'],
  http2: [400, 'HTTP/2 is not supported on this connection; use HTTP/1.1.', 'bad_request'],
  connect: [400, 'CONNECT is not supported; this service is not a proxy.', 'bad_request'],
  upgrade_with_chunks: [
    400,
    'A request with an Upgrade header must not have a chunked body.',
    'bad_request',
  ],
} as const satisfies Record<string, Entry> & Record<CommandRefusal, Entry>;

/** Why a request is refused. */
export type Refusal = keyof typeof ERRORS;
export const REFUSALS = Object.keys(ERRORS) as Refusal[];

type Coded = { [R in Refusal]: (typeof ERRORS)[R] extends readonly [number, string] ? R : never };
/** A `code` of Error records. */
export type ErrorCode = Coded[Refusal];
export const ERROR_CODES = REFUSALS.filter(isErrorCode);

export function isErrorCode(name: string | undefined): name is ErrorCode {
  return name !== undefined && ERRORS[name as Refusal]?.length === 2;
}

/** A problem with the input of a request; v2's Error record lists them. */
export interface RequestProblem {
  readonly parameter?: string;
  /** RFC 6901; "" is the whole body. */
  readonly pointer?: string;
  /** The id of an order, and the code of its error; only of "orders_not_changed". */
  readonly id?: bigint;
  readonly code?: ErrorCode;
  readonly detail: string;
}

/** The contract's Error record. */
interface ErrorRecord {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
  readonly errors?: readonly RequestProblem[] | undefined;
}

/** Alternating names and values, the cheapest form for `writeHead`; names must be unique. */
export type HeaderList = readonly string[];

/** A serialized Error record with its status and headers. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: HeaderList;
  /** The `code` in the body. */
  readonly code: ErrorCode;
  /** JSON. Only a record with problems has characters beyond ASCII, since these repeat names of the request. */
  readonly body: string;
}

const REALM = 'Bearer realm="store-orders"';

/** Retry-After by default, in seconds. */
const RETRY_AFTER_S = '1';

/** Limits of a key that are soon free again. */
const LIMITED_PER_NODE: readonly Refusal[] = ['read_limit_reached', 'stream_limit_reached'];

/** Returns the Retry-After of a refusal; undefined without one. */
function retryAfterOf(refusal: Refusal): string | undefined {
  // A repetition is useless until the operators have set the service up.
  if (refusal === 'webhooks_unavailable') return undefined;
  const isTransient = ERRORS[refusal][0] === 503 || LIMITED_PER_NODE.includes(refusal);
  return isTransient ? RETRY_AFTER_S : undefined;
}

/** Precomputed, so that refusing a request costs no more than serving it. */
const RESPONSES = Object.fromEntries(
  REFUSALS.map((refusal) => [
    refusal,
    responseOf(errorRecord(refusal), { retryAfter: retryAfterOf(refusal) }),
  ]),
) as Readonly<Record<Refusal, ErrorResponse>>;

export function errorResponse(refusal: Refusal): ErrorResponse {
  return RESPONSES[refusal];
}

/** Returns a response whose record also lists the problems of the input. */
export function problemsResponse(
  code: 'parameter_invalid' | 'body_invalid' | 'orders_not_changed',
  errors: readonly RequestProblem[],
): ErrorResponse {
  return responseOf({ ...errorRecord(code), errors });
}

/**
 * Returns a response whose record also has an order.
 * @param order JSON
 */
export function orderResponse(refusal: Refusal, order: string): ErrorResponse {
  const record = errorRecord(refusal);
  const body = `${JSON.stringify(record).slice(0, -1)},"order":${order}}`;
  // The response has the ETag of the order, which a proxy that compresses would change.
  return responseOf(record, { body, caching: 'no-store, no-transform' });
}

/**
 * Returns a response whose message has more than the general one.
 * @param more a sentence that follows it
 * @param retryAfter in seconds
 */
export function explainedResponse(
  refusal: Refusal,
  more: string,
  retryAfter?: number,
): ErrorResponse {
  const record = errorRecord(refusal);
  const message = `${record.message} ${more}`;
  return responseOf({ ...record, message }, { retryAfter: retryAfter?.toString() });
}

/** Returns the general Error record of a refusal. */
export function errorRecord(refusal: Refusal): ErrorRecord {
  const [status, message, code = refusal] = ERRORS[refusal] as Entry;
  return { code: code as ErrorCode, message, status };
}

function responseOf(
  record: ErrorRecord,
  {
    body = toJson(record),
    retryAfter,
    caching = 'no-store',
  }: {
    readonly body?: string;
    readonly retryAfter?: string | undefined;
    readonly caching?: string;
  } = {},
): ErrorResponse {
  const { code, status } = record;
  const length = String(Buffer.byteLength(body));
  const headers = ['content-type', 'application/json', 'content-length', length];
  headers.push('cache-control', caching);
  if (retryAfter !== undefined) headers.push('retry-after', retryAfter);
  if (status === 401) headers.push('www-authenticate', challenge(code));
  return { status, headers, code, body };
}

/** Returns the WWW-Authenticate challenge of a 403: RFC 6750, section 3. */
export function scopeChallenge(scope: string): HeaderList {
  return ['www-authenticate', `${REALM}, error="insufficient_scope", scope="${scope}"`];
}

/** Returns the WWW-Authenticate challenge. RFC 6750, section 3: no error code if no credentials were sent. */
function challenge(code: ErrorCode): string {
  if (code === 'api_key_missing') return REALM;
  const error = code === 'api_key_malformed' ? 'invalid_request' : 'invalid_token';
  return `${REALM}, error="${error}", error_description="${ERRORS[code][1].replaceAll('"', "'")}"`;
}
