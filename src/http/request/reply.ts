import type { IncomingMessage } from 'node:http';
import { type Json, toJson } from '../../../protocol/exact-json.ts';
import {
  ERROR_RECORDS,
  type HeaderList,
  REFUSALS,
  type Refusal,
  type RequestProblem,
} from '../error-records.ts';
import { KEEP_ALIVE_MS, MAX_PROBLEMS } from '../limits.ts';
import { withCors } from './cors.ts';
import type { Exchange } from './exchange.ts';

/** A response that is sent in one piece. */
export interface Reply<Answer = unknown> {
  readonly status: number;
  /** In addition to the headers of every response, and Content-Length. */
  readonly headers: HeaderList;
  /** Absent for statuses without a body; Node omits it for HEAD. */
  readonly body?: Json<Answer> | Buffer | undefined;
  readonly refusal?: undefined;
}

/** A serialized Error record that is sent. */
export interface ErrorReply {
  readonly refusal: Refusal;
  readonly status: number;
  readonly headers: HeaderList;
  /** JSON. Only a record with problems has characters beyond ASCII, since these repeat names of the request. */
  readonly body: string;
}

const REALM = 'Bearer realm="store-orders"';

/** Returns the WWW-Authenticate challenge of a 401. RFC 6750, section 3: no error code if no credentials were sent. */
function challenge(refusal: Refusal): string {
  if (refusal === 'api_key_missing') return REALM;
  const error = refusal === 'api_key_malformed' ? 'invalid_request' : 'invalid_token';
  const description = ERROR_RECORDS[refusal].message.replaceAll('"', "'");
  return `${REALM}, error="${error}", error_description="${description}"`;
}

/** Limits of a key that are soon free again. */
const LIMITED_PER_NODE: readonly Refusal[] = ['read_limit_reached', 'stream_limit_reached'];

/** Returns the Retry-After of a refusal, in seconds; undefined without one. */
function retryAfterOf(refusal: Refusal): string | undefined {
  // A repetition is useless until the operators have set the service up.
  if (refusal === 'webhooks_unavailable') return undefined;
  const isTransient = ERROR_RECORDS[refusal].status === 503 || LIMITED_PER_NODE.includes(refusal);
  return isTransient ? '1' : undefined;
}

function errorReply(
  refusal: Refusal,
  body: string = toJson(ERROR_RECORDS[refusal]),
  { caching = 'no-store', retryAfter = retryAfterOf(refusal) } = {},
): ErrorReply {
  const { status } = ERROR_RECORDS[refusal];
  const length = String(Buffer.byteLength(body));
  const headers = ['content-type', 'application/json', 'content-length', length];
  headers.push('cache-control', caching);
  if (retryAfter !== undefined) headers.push('retry-after', retryAfter);
  if (status === 401) headers.push('www-authenticate', challenge(refusal));
  return { refusal, status, headers, body };
}

/** Precomputed, so that refusing a request costs no more than serving it. */
const GENERAL = Object.fromEntries(
  REFUSALS.map((refusal) => [refusal, errorReply(refusal)]),
) as Readonly<Record<Refusal, ErrorReply>>;

function withHeaders(reply: ErrorReply, more: HeaderList): ErrorReply {
  return { ...reply, headers: [...reply.headers, ...more] };
}

/** Refuses a request. @param headers in addition to those of the record */
export function refuse(refusal: Refusal, headers?: HeaderList): ErrorReply {
  return headers === undefined ? GENERAL[refusal] : withHeaders(GENERAL[refusal], headers);
}

/** Refuses invalid input, with its problems up to MAX_PROBLEMS. */
export function invalid(
  refusal: 'parameter_invalid' | 'body_invalid' | 'orders_not_changed' | 'exceeds_own_key',
  problems: readonly RequestProblem[],
): ErrorReply {
  const errors = problems.slice(0, MAX_PROBLEMS);
  return errorReply(refusal, toJson({ ...ERROR_RECORDS[refusal], errors }));
}

/** Refuses a change of an order that is shown. @param order JSON */
export function refuseWithOrder(refusal: Refusal, order: string, headers: HeaderList): ErrorReply {
  const body = `${JSON.stringify(ERROR_RECORDS[refusal]).slice(0, -1)},"order":${order}}`;
  // The response has the ETag of the order, which a proxy that compresses would change.
  return withHeaders(errorReply(refusal, body, { caching: 'no-store, no-transform' }), headers);
}

/** Returns an Error record with a sentence after its message. */
function explained(refusal: Refusal, more: string): string {
  const record = ERROR_RECORDS[refusal];
  return toJson({ ...record, message: `${record.message} ${more}` });
}

/** Refuses a request for a list that is being read. @param progress a sentence for people @param retryAfter in seconds */
export function refuseNotRead(progress: string, retryAfter: number): ErrorReply {
  const body = explained('list_not_read', progress);
  return errorReply('list_not_read', body, { retryAfter: String(retryAfter) });
}

/** Refuses a request whose API key does not have the scope. RFC 6750, section 3, has the challenge. */
export function refuseScope(scope: string): ErrorReply {
  const reply = errorReply('scope_missing', explained('scope_missing', `It needs ${scope}.`));
  const challenge = `${REALM}, error="insufficient_scope", scope="${scope}"`;
  return withHeaders(reply, ['www-authenticate', challenge]);
}

/**
 * Refuses a body of another media type: RFC 9110, section 15.5.16; for PATCH, RFC 5789, section 2.2.
 * @param taken the media types of the operation, application/json first
 */
export function refuseMediaType(method: string | undefined, taken: readonly string[]): ErrorReply {
  const refusal = 'unsupported_media_type';
  const others = taken.slice(1).join(', ');
  const body = others === '' ? undefined : explained(refusal, `It can also be ${others}.`);
  const types = taken.join(', ');
  return withHeaders(errorReply(refusal, body), [
    ...['accept', types, 'accept-encoding', 'identity'],
    ...(method === 'PATCH' ? ['accept-patch', types] : []),
  ]);
}

/** Thrown by the steps of an operation that find a reason to refuse the request. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly reply: ErrorReply;

  constructor(reply: ErrorReply) {
    super(reply.refusal);
    this.reply = reply;
  }
}

export function sendReply(exchange: Exchange, reply: Reply | ErrorReply): void {
  const { response } = exchange;
  const { status, headers, body, refusal } = reply;
  if (refusal !== undefined) {
    exchange.refusal = refusal;
    // The rest of a body that is not needed is discarded.
    const { request } = exchange;
    if (hasBody(request) && !request.complete) response.shouldKeepAlive = false;
  }
  if (body === undefined) {
    sendHead(exchange, status, headers);
    response.end();
    return;
  }
  const length = Buffer.byteLength(body);
  // The headers of an Error record contain its length.
  const all = refusal === undefined ? [...headers, 'content-length', String(length)] : headers;
  sendHead(exchange, status, all);
  // Node sends a string body and the head in one write, which takes less time in Latin-1; for ASCII that is the same.
  response.end(body, length === body.length ? 'latin1' : 'utf8');
}

/** Sends an Error record. @param headers in addition to those of the record */
export function sendError(exchange: Exchange, refusal: Refusal, headers?: HeaderList): void {
  sendReply(exchange, refuse(refusal, headers));
}

/** Node sends this header only with its own keepAliveTimeout, which is disabled. */
const KEEP_ALIVE = ['keep-alive', `timeout=${KEEP_ALIVE_MS / 1000}`] as const;

/** Writes the response head; the caller writes the body. */
export function sendHead(
  { id, route, request, response, corsHeaders }: Exchange,
  status: number,
  headers: HeaderList,
): void {
  // For HTTP/1.0, Node decides while serializing the head whether the connection stays open.
  const isKept = response.shouldKeepAlive && request.httpVersionMinor === 1;
  const connection = isKept ? KEEP_ALIVE : [];
  // Node takes this list without copying it, so it must be new; `concat` is the fastest way to make it.
  const all = commonHeaders(id).concat(connection, route.headers ?? [], headers);
  response.writeHead(status, corsHeaders.length === 0 ? all : [...withCors(all, corsHeaders)]);
}

/** Returns the headers of every response. */
export function commonHeaders(requestId: string): string[] {
  return ['x-request-id', requestId, 'x-content-type-options', 'nosniff'];
}

/** RFC 9112, section 6: Content-Length or Transfer-Encoding indicates a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) !== 0 || headers['transfer-encoding'] !== undefined;
}
