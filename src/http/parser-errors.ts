import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Bodies } from './connection/bodies.ts';
import { isDiscarding, lingeringClose, whenClosed } from './connection/lingering-close.ts';
import type { Pipelining } from './connection/pipelining.ts';
import { ERROR_RECORDS, type HeaderList, type Refusal } from './error-records.ts';
import { MAX_URL_BYTES } from './limits.ts';
import { type Cors, withCors } from './request/cors.ts';
import { newRequestId, requestId } from './request/exchange.ts';
import { commonHeaders, refuse } from './request/reply.ts';
import { mayLogKeyless } from './request/request-log.ts';

/** The error of Node's "clientError" event. */
interface ClientError extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
}

/** Returns listeners that send Error records for input that never becomes a "request" event. */
export function clientErrorListeners(
  logger: Logger,
  metrics: Metrics,
  { turns, bodies, cors }: { turns: Pipelining; bodies: Bodies; cors: Cors },
) {
  const report = (refusal: Refusal, id: string, parser: string | undefined) => {
    const { status, code } = ERROR_RECORDS[refusal];
    const reason = refusal === code ? parser : refusal;
    metrics.countRequest({ operation: 'none', version: 'none' }, String(status));
    if (!mayLogKeyless(logger)) return;
    logger.info({ requestId: id, status, code, reason }, 'rejected a malformed request');
  };

  const sendError = (socket: Socket, code: Refusal, error: ClientError) => {
    const id = newRequestId();
    report(code, id, error.code);
    socket.write(
      rawAnswer(code, rawHeaders(code, id, cors.headersFor({ headers: originIn(error) }))),
    );
    lingeringClose(socket);
  };

  const clientError = (error: ClientError, socket: Socket): void => {
    // The connection is destroyed, in a lingering close, or discards its further input.
    if (!socket.writable || isDiscarding(socket)) return;
    const code = refusalOf(error);
    if (bodies.fail(socket, code)) return;
    const pending = turns.pending(socket);
    if (pending !== undefined) endAfter(pending, socket);
    // The response was sent before the whole request had arrived; do not send a second one.
    else if (turns.isHalfRead(socket)) lingeringClose(socket);
    else sendError(socket, code, error);
  };

  const checkExpectation = (request: IncomingMessage, response: ServerResponse): void => {
    const code = 'expectation_failed';
    const id = requestId(request);
    turns.take(request.socket, response, () => {
      report(code, id, undefined);
      const { status, body } = refuse(code);
      response.writeHead(status, rawHeaders(code, id, cors.headersFor(request)));
      response.end(body, 'latin1');
    });
  };

  return { clientError, checkExpectation };
}

/** Connections that close after their pending response. */
const ending = new WeakSet<Socket>();

/** Closes the connection after the pending response; the malformed bytes after that request get no response. */
function endAfter(pending: ServerResponse, socket: Socket): void {
  // Stop reading, or a client could keep the connection open by sending more. Node resumes reading after each
  // response, so this function may be called again.
  socket.pause();
  if (ending.has(socket)) return;
  ending.add(socket);
  pending.shouldKeepAlive = false;
  whenClosed(pending, () => lingeringClose(socket));
}

/** Refusals by the error code of Node's parser (llhttp). */
const BY_PARSER: Readonly<Record<string, Refusal>> = {
  HPE_INVALID_METHOD: 'bad_method',
  HPE_INVALID_URL: 'bad_url',
  HPE_INVALID_VERSION: 'bad_request_line',
  HPE_INVALID_CONSTANT: 'bad_request_line',
  HPE_INVALID_HEADER_TOKEN: 'bad_header',
  HPE_CR_EXPECTED: 'bad_header',
  HPE_LF_EXPECTED: 'bad_header',
  HPE_INVALID_CONTENT_LENGTH: 'bad_framing',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'bad_framing',
  HPE_INVALID_TRANSFER_ENCODING: 'bad_framing',
  HPE_INVALID_CHUNK_SIZE: 'bad_chunks',
  HPE_PAUSED_H2_UPGRADE: 'http2',
};

function refusalOf({ code, rawPacket }: ClientError): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'body_too_large';
  if (code !== 'HPE_HEADER_OVERFLOW') return BY_PARSER[code ?? ''] ?? 'bad_request';
  // llhttp counts the request line as a header. The packet has that line, or its end if it came in several packets.
  const [line] = textOf(rawPacket).split('\n', 1);
  const isUrl = /^[A-Z-]+ \S/.test(line!)
    ? line!.length > MAX_URL_BYTES
    : / HTTP\/1\.\d\r?$/.test(line!);
  return isUrl ? 'uri_too_long' : 'headers_too_large';
}

function textOf(rawPacket: unknown): string {
  return Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '';
}

/** Returns the Origin header, if the packet contains it: the parser failed before the request was complete. */
function originIn({ rawPacket }: ClientError): { origin?: string } {
  const [, origin] = /\norigin:[ \t]*([^\s,]+)[ \t]*\r?\n/i.exec(textOf(rawPacket)) ?? [];
  return origin === undefined ? {} : { origin };
}

function rawHeaders(code: Refusal, id: string, cors: HeaderList): string[] {
  const { headers } = refuse(code);
  const date = new Date().toUTCString();
  const own = [...commonHeaders(id), ...headers, 'date', date, 'connection', 'close'];
  return [...withCors(own, cors)];
}

function rawAnswer(code: Refusal, headers: readonly string[]): string {
  const { status, body } = refuse(code);
  const head = headers.map((part, index) => part + (index % 2 === 0 ? ': ' : '\r\n'));
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`;
}
