import querystring from 'node:querystring';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';
import { withoutSecrets } from '../keys/api-key.ts';

/** Bytes of log that gather for one write, and for how long: fewer, larger writes under load. */
const BUFFER_BYTES = 4096;
const FLUSH_EVERY_MS = 250;
/** Bytes of log that may wait for a reader who has stopped reading; further lines are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** JSON lines on stdout; lines for people when stdout is a terminal. */
export function createLogger(level: string): { logger: Logger; flush: () => void } {
  if (process.stdout.isTTY) {
    const terminal: DestinationStream = { write: (line) => process.stdout.write(readable(line)) };
    return { logger: pino({ level, base: null }, terminal), flush: () => {} };
  }
  const destination = pino.destination({
    fd: 1,
    sync: false,
    minLength: BUFFER_BYTES,
    maxLength: MAX_WAITING_BYTES,
    periodicFlush: FLUSH_EVERY_MS,
  });
  return { logger: pino({ level, base: null }, destination), flush: () => destination.flushSync() };
}

/** One line per request, when its answer is out or its reader gone. */
export function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const line = {
    method: request.method,
    // Without the query: v1 has no parameters there, and people put secrets into it.
    path: loggable(request.raw.url?.split('?', 1)[0] ?? ''),
    status: reply.raw.headersSent ? reply.raw.statusCode : undefined,
    ms: Math.round(reply.elapsedTime * 1000) / 1000,
    key: request.apiKey?.id,
    aborted: reply.raw.writableFinished ? undefined : true,
  };
  if (reply.raw.statusCode >= 500) request.log.warn(line, 'request');
  else request.log.info(line, 'request');
}

/** A path without secrets, also without percent-encoded ones. */
function loggable(path: string): string {
  const decoded = querystring.unescape(path);
  const redacted = withoutSecrets(decoded);
  return redacted === decoded ? path : redacted;
}

const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/** A log line (JSON) as a person reads it: "05:18:56 INFO  GET /v1/store/orders 200 1.2ms …". */
export function readable(line: string): string {
  const { time, level, msg, method, path, status, ms, err, requestId, ...rest } = JSON.parse(line);
  const clock = new Date(time).toTimeString().slice(0, 8);
  const what = msg === 'request' ? `${method} ${path} ${status ?? '-'} ${ms}ms` : msg;
  const details = Object.entries(rest).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const id = requestId === undefined ? [] : [`requestId=${requestId}`];
  const text = [clock, (LEVELS[level] ?? '').padEnd(5), what, ...details, ...id].join(' ');
  return `${text}\n${err?.stack === undefined ? '' : `${err.stack}\n`}`;
}
