import type { IncomingMessage } from 'node:http';
import type { Json } from '../../../protocol/exact-json.ts';
import {
  type ErrorResponse,
  errorResponse,
  explainedResponse,
  type HeaderList,
  orderResponse,
  problemsResponse,
  type Refusal,
  type RequestProblem,
  scopeChallenge,
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

/** An Error record that is sent. */
export interface ErrorReply extends ErrorResponse {
  readonly refusal: Refusal;
}

/** Refuses a request. @param headers in addition to those of the record */
export function refuse(refusal: Refusal, headers: HeaderList = []): ErrorReply {
  return errorReply(refusal, errorResponse(refusal), headers);
}

/** Refuses invalid input, with its problems up to MAX_PROBLEMS. */
export function invalid(
  refusal: 'parameter_invalid' | 'body_invalid' | 'orders_not_changed',
  problems: readonly RequestProblem[],
): ErrorReply {
  return errorReply(refusal, problemsResponse(refusal, problems.slice(0, MAX_PROBLEMS)), []);
}

/** Refuses a change of an order that is shown. @param order JSON */
export function refuseWithOrder(refusal: Refusal, order: string, headers: HeaderList): ErrorReply {
  return errorReply(refusal, orderResponse(refusal, order), headers);
}

/** Refuses a request for a list that is being read. @param progress a sentence for people @param retryAfter in seconds */
export function refuseNotRead(progress: string, retryAfter: number): ErrorReply {
  return errorReply('list_not_read', explainedResponse('list_not_read', progress, retryAfter), []);
}

/** Refuses a request whose API key does not have the scope. */
export function refuseScope(scope: string): ErrorReply {
  const response = explainedResponse('scope_missing', `It needs ${scope}.`);
  return errorReply('scope_missing', response, scopeChallenge(scope));
}

/**
 * Refuses a body of another media type: RFC 9110, section 15.5.16; for PATCH, RFC 5789, section 2.2.
 * @param taken the media types of the operation, application/json first
 */
export function refuseMediaType(method: string | undefined, taken: readonly string[]): ErrorReply {
  const [, ...others] = taken;
  const response =
    others.length === 0
      ? errorResponse('unsupported_media_type')
      : explainedResponse('unsupported_media_type', `It can also be ${others.join(', ')}.`);
  const types = taken.join(', ');
  return errorReply('unsupported_media_type', response, [
    ...['accept', types, 'accept-encoding', 'identity'],
    ...(method === 'PATCH' ? ['accept-patch', types] : []),
  ]);
}

function errorReply(
  refusal: Refusal,
  { status, headers, code, body }: ErrorResponse,
  more: HeaderList,
): ErrorReply {
  return {
    refusal,
    status,
    code,
    body,
    headers: more.length === 0 ? headers : [...headers, ...more],
  };
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

/** Sends a reply. */
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

/** Sends an Error record and closes the connection, since the bytes that follow may not be a request. */
export function sendErrorAndClose(exchange: Exchange, refusal: Refusal): void {
  exchange.response.shouldKeepAlive = false;
  sendError(exchange, refusal);
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
