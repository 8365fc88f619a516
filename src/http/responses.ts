import type { IncomingMessage } from 'node:http';
import type { InputProblem } from './contract-validation.ts';
import { errorResponse, type Headers, type Refusal } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { KEEP_ALIVE_MS, MAX_PROBLEMS } from './limits.ts';

/** Node says it only where it keeps that time itself. */
const KEEP_ALIVE = ['keep-alive', `timeout=${KEEP_ALIVE_MS / 1000}`] as const;

/** Writes the head of an answer; the body is the caller's. */
export function sendHead(
  { id, route, request, response }: Exchange,
  status: number,
  headers: Headers,
): void {
  // Node closes some connections of HTTP/1.0 only when it has read the head.
  const isKept = response.shouldKeepAlive && request.httpVersionMinor === 1;
  const connection = isKept ? KEEP_ALIVE : [];
  response.writeHead(status, [...commonHeaders(id), ...connection, ...route.headers, ...headers]);
}

/** What every answer carries. */
export function commonHeaders(requestId: string): Headers {
  return ['x-request-id', requestId, 'x-content-type-options', 'nosniff'];
}

/** Answers. To HEAD, Node sends no body. */
export function send(exchange: Exchange, status: number, headers: Headers, body: Buffer): void {
  sendHead(exchange, status, [...headers, 'content-length', String(body.length)]);
  exchange.response.end(body);
}

/** Answers what has no body. */
export function sendEmpty(exchange: Exchange, status: 204 | 304, headers: Headers = []): void {
  sendHead(exchange, status, headers);
  exchange.response.end();
}

/** Answers with an Error record; `headers` go with it. */
export function sendError(exchange: Exchange, refusal: Refusal, headers: Headers = []): void {
  const { request, response } = exchange;
  const error = errorResponse(refusal);
  exchange.refusal = refusal;
  // The rest of a body that nobody wants any more is not waited for.
  if (hasBody(request) && !request.complete) response.shouldKeepAlive = false;
  sendHead(exchange, error.status, [...error.headers, ...headers]);
  // As text it goes out in one piece with the head.
  response.end(error.body, 'latin1');
}

/** Refuses what leaves the connection in doubt: what follows may be no request. */
export function sendErrorAndClose(exchange: Exchange, refusal: Refusal): void {
  exchange.response.shouldKeepAlive = false;
  sendError(exchange, refusal);
}

/** RFC 9112, section 6: these two headers say that there is a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) !== 0 || headers['transfer-encoding'] !== undefined;
}

/** Sends an Error record with everything that is wrong with the input. */
export function sendProblems(
  exchange: Exchange,
  code: 'parameter_invalid' | 'body_invalid',
  problems: readonly InputProblem[],
): void {
  const { status, headers, body } = errorResponse(code);
  exchange.refusal = code;
  const record = { ...JSON.parse(body), errors: problems.slice(0, MAX_PROBLEMS) };
  const length = ['content-type', 'content-length'];
  const kept = headers.filter((_, at) => !length.includes(headers[at - (at % 2)]!));
  send(
    exchange,
    status,
    ['content-type', 'application/json', ...kept],
    Buffer.from(JSON.stringify(record)),
  );
}
