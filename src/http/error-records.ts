interface ErrorRecord<Code extends string> {
  readonly code: Code;
  readonly message: string;
  readonly status: number;
}

/** Error records of a status, by name. Their code is their name, unless one is given. */
function records<Name extends string, Code extends string = Name>(
  kind: number | readonly [status: number, code: Code],
  messages: Readonly<Record<Name, string>>,
): Readonly<Record<Name, ErrorRecord<Code>>> {
  const [status, code] = typeof kind === 'number' ? [kind] : kind;
  const all = Object.entries<string>(messages).map(([name, message]) => [
    name,
    { code: code ?? name, message, status },
  ]);
  return Object.fromEntries(all);
}

/** The Error records of refusals. The log has the code, and the name if it is more specific. Documented in docs/errors.md. */
export const ERROR_RECORDS = {
  ...records(400, {
    bad_request: 'The request is not valid HTTP, or its URL is malformed.',
    parameter_invalid: 'A parameter is not valid; "errors" has every problem.',
    body_invalid: 'The request body is not valid; "errors" has every problem.',
    cursor_invalid: 'This cursor is malformed, or belongs to other parameters.',
    idempotency_key_missing:
      'An Idempotency-Key header is required, so that the request can be retried safely.',
  }),
  ...records(401, {
    api_key_missing: 'An API key is required: send "Authorization: Bearer <key>".',
    api_key_malformed: 'The Authorization header must appear once and read "Bearer <key>".',
    api_key_invalid: 'This is not an API key of this service.',
    api_key_expired: 'This API key has expired.',
    api_key_revoked: 'This API key has been revoked.',
    api_key_wrong_environment:
      'This API key belongs to the other environment: so_live_ keys are for production, so_test_ keys for staging.',
  }),
  ...records(403, {
    scope_missing: 'This API key does not have the scope that the operation needs.',
    exceeds_own_key:
      'No key gives what it does not have, and a key only becomes narrower; "errors" has every problem.',
  }),
  ...records(404, {
    not_found: 'There is nothing at this path.',
    order_not_found: 'There is no order with this id.',
    order_already_cancelled: 'This order has already been cancelled.',
    invalid_order_id: 'orderId must be an int64 in canonical decimal form.',
    webhook_not_found: 'There is no webhook with this id.',
    key_not_found: 'There is no API key with this id.',
    pet_not_found: 'There is no pet with this id.',
    invalid_pet_id: 'petId must be an int64 in canonical decimal form.',
  }),
  ...records(405, {
    method_not_allowed: 'This path does not support the method; see the Allow header.',
  }),
  ...records(408, { request_timeout: 'The request did not arrive in time.' }),
  ...records(409, {
    order_already_shipped: 'This order has already shipped and cannot be cancelled.',
    orders_not_changed:
      'No order was changed, since some cannot be; "errors" has the reasons of up to 100 of them.',
    reference_taken:
      'This API key has placed another order with this reference; its content differs.',
    webhook_url_taken: 'This API key has a webhook with this URL already.',
    webhook_limit_reached: 'This API key has as many webhooks as one key can have.',
    too_many_webhooks: 'The store has as many webhooks as it can have.',
    too_many_keys: 'The store has as many API keys as keys can create.',
    key_ended: 'This key has ended; create another one.',
    last_key_manager: 'No other valid key could manage keys then; only operators can do this.',
    no_invitation: 'This is no ticket of an invitation, or it was redeemed.',
  }),
  ...records(410, {
    pet_lookup_gone: 'The pet lookup was deprecated and its sunset date has passed.',
    changes_gone:
      'This cursor is no longer valid: the store was restored or lost changes. Read all orders again.',
  }),
  ...records(412, {
    order_changed: 'The order has changed since the ETag in If-Match was read.',
    precondition_failed:
      'Nothing was changed: If-None-Match names the present state, or If-Match names a state that this resource does not have.',
    webhook_changed: 'The webhook has changed since the ETag in If-Match was read.',
    key_changed: 'The key has changed since the ETag in If-Match was read.',
    reference_differs: 'The order does not have the reference in the request.',
  }),
  ...records(413, { body_too_large: 'The request body is too large.' }),
  ...records(414, { uri_too_long: 'The URL is too long.' }),
  ...records(415, {
    unsupported_media_type:
      'The request body must be application/json in UTF-8, without a content coding.',
  }),
  ...records(417, { expectation_failed: 'The only supported expectation is "100-continue".' }),
  ...records(422, {
    idempotency_key_reused: 'This Idempotency-Key was used with another request.',
  }),
  ...records(429, {
    cancel_limit_reached:
      'This API key has reached its limit of cancels per hour. Retry after the time in Retry-After.',
    place_limit_reached:
      'This API key has reached its limit of placements per hour. Retry after the time in Retry-After.',
    key_change_limit_reached:
      'This API key has changed as many keys as one can in an hour. Retry after the time in Retry-After.',
    read_limit_reached:
      'This API key has too many requests for pages or counts at a time. Retry after the time in Retry-After.',
    stream_limit_reached: 'This API key has too many open streams on this node.',
  }),
  ...records(431, { headers_too_large: 'The request headers are too large.' }),
  ...records(500, {
    internal_error: 'Something went wrong on our side; the X-Request-Id names this request.',
  }),
  ...records(503, {
    store_unavailable:
      'The store cannot be reached or did not confirm in time, so the outcome is unknown; try again.',
    webhooks_unavailable:
      'Webhooks are not set up on this service: its webhook key is missing, or another one.',
    too_many_tests: 'Too many webhooks are tested at the same time; try again.',
    too_many_streams: 'There are too many open streams on this node.',
  }),
  ...records(505, {
    http_version_not_supported: 'This HTTP version is not supported; use HTTP/1.1.',
  }),
  ...records(507, {
    no_ids_left: 'No order can be placed: the store has no ids left for new orders.',
  }),
  ...records([503, 'store_unavailable'], {
    list_not_read: 'The list is being read; retry after the time in Retry-After.',
  }),
  // Of v2. In v1, which is frozen, they have another status or message.
  ...records([409, 'order_already_cancelled'], {
    cancel_already_cancelled: 'This order has already been cancelled.',
    ship_already_cancelled: 'This order has been cancelled and cannot ship.',
  }),
  ...records([409, 'order_already_shipped'], {
    ship_already_shipped: 'This order has already shipped.',
  }),
  // The causes of a bad request.
  ...records([400, 'bad_request'], {
    bad_method: 'Unknown HTTP method; methods are uppercase.',
    bad_url:
      'The URL is malformed: characters beyond ASCII, spaces and broken "%" must be percent-encoded.',
    url_host: 'An absolute URL must have a valid host, and no credentials.',
    url_fragment: 'The URL must not contain a fragment ("#").',
    bad_request_line:
      'The request line is malformed; it must be "METHOD URL HTTP/1.1" with single spaces, followed by CRLF.',
    bad_header:
      'A header is malformed; it must be "Name: value" without a space before the colon or control characters, followed by CRLF.',
    host_missing: 'The Host header is missing.',
    host_repeated: 'The Host header must be sent once.',
    host_malformed: 'The Host header must be a host name or an IP address, with an optional port.',
    bad_framing: 'Content-Length and Transfer-Encoding are invalid, repeated or conflicting.',
    bad_chunks: 'The chunked encoding of the body is malformed.',
    http2: 'HTTP/2 is not supported on this connection; use HTTP/1.1.',
    connect: 'CONNECT is not supported; this service is not a proxy.',
    upgrade_with_chunks: 'A request with an Upgrade header must not have a chunked body.',
  }),
};

/** Why a request is refused. */
export type Refusal = keyof typeof ERROR_RECORDS;
export const REFUSALS = Object.keys(ERROR_RECORDS) as Refusal[];

type ErrorCode = (typeof ERROR_RECORDS)[Refusal]['code'];

export function isErrorCode(name: string | undefined): name is ErrorCode {
  return name !== undefined && ERROR_RECORDS[name as Refusal]?.code === name;
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

/** Alternating names and values, the cheapest form for `writeHead`; names must be unique. */
export type HeaderList = readonly string[];
