import type { IncomingMessage } from 'node:http';
import {
  type ErrorResponse,
  errorResponse,
  type HeaderList,
  orderResponse,
  problemsResponse,
  type Refusal,
  type RequestProblem,
} from '../errors.ts';
import { KEEP_ALIVE_MS, MAX_PROBLEMS } from '../limits.ts';
import { withCors } from './cors.ts';
import type { Exchange } from './exchange.ts';

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
  // Node takes this list as it is; `concat` copies the parts in one step.
  const all = commonHeaders(id).concat(connection, route.headers ?? [], headers);
  response.writeHead(status, corsHeaders.length === 0 ? all : [...withCors(all, corsHeaders)]);
}

/** Returns the headers of every response. */
export function commonHeaders(requestId: string): string[] {
  return ['x-request-id', requestId, 'x-content-type-options', 'nosniff'];
}

/** Sends a response with a body, which Node omits for HEAD. */
export function send(exchange: Exchange, status: number, headers: HeaderList, body: Buffer): void {
  sendHead(exchange, status, [...headers, 'content-length', String(body.length)]);
  exchange.response.end(body);
}

/** Sends a response without a body. */
export function sendEmpty(exchange: Exchange, status: 204 | 304, headers: HeaderList = []): void {
  sendHead(exchange, status, headers);
  exchange.response.end();
}

/**
 * Sends an Error record.
 * @param headers in addition to those of the record
 */
export function sendError(exchange: Exchange, refusal: Refusal, headers: HeaderList = []): void {
  sendErrorResponse(exchange, refusal, errorResponse(refusal), headers);
}

/** Sends an Error record with all problems of the input, up to MAX_PROBLEMS. */
export function sendProblems(
  exchange: Exchange,
  code: 'parameter_invalid' | 'body_invalid' | 'orders_not_changed',
  problems: readonly RequestProblem[],
): void {
  sendErrorResponse(exchange, code, problemsResponse(code, problems.slice(0, MAX_PROBLEMS)));
}

/**
 * Sends an Error record with an order.
 * @param order JSON
 * @param headers in addition to those of the record
 */
export function sendErrorWithOrder(
  exchange: Exchange,
  refusal: Refusal,
  order: string,
  headers: HeaderList,
): void {
  sendErrorResponse(exchange, refusal, orderResponse(refusal, order), headers);
}

function sendErrorResponse(
  exchange: Exchange,
  refusal: Refusal,
  error: ErrorResponse,
  headers: HeaderList = [],
): void {
  const { request, response } = exchange;
  exchange.refusal = refusal;
  // Do not wait for the rest of a body that is not needed.
  if (hasBody(request) && !request.complete) response.shouldKeepAlive = false;
  sendHead(exchange, error.status, [...error.headers, ...headers]);
  // Node sends a string body and the head in one write.
  response.end(error.body);
}

/** Sends an Error record and closes the connection, since the bytes that follow may not be a request. */
export function sendErrorAndClose(exchange: Exchange, refusal: Refusal): void {
  exchange.response.shouldKeepAlive = false;
  sendError(exchange, refusal);
}

/** RFC 9112, section 6: Content-Length or Transfer-Encoding indicates a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) !== 0 || headers['transfer-encoding'] !== undefined;
}
