import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import querystring from 'node:querystring';
import { type DestinationStream, type Logger, pino } from 'pino';
import { withoutSecrets } from '../keys/api-key.ts';
import { CommandNotConfirmed } from '../orders/command-queue.ts';
import { StoreUnavailable } from '../store/store.ts';
import { errorAnswer } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { type Destination, fileDestination, streamDestination } from './log-destinations.ts';

/** Characters of X-Forwarded-For that are logged. */
const MAX_FORWARDED_FOR = 200;

export interface Log extends Pick<Destination, 'end'> {
  readonly logger: Logger;
}

/** JSON lines on stdout; lines for people when stdout is a terminal. */
export async function createLog(level: string): Promise<Log> {
  const { stdout } = process;
  if (stdout.isTTY) {
    // Loaded only here: it takes as long as a tenth of a start.
    const { prettyFactory } = await import('pino-pretty');
    const pretty = prettyFactory({
      colorize: true,
      singleLine: true,
      translateTime: 'SYS:HH:MM:ss',
      // In the message.
      ignore: 'method,path,status',
      messageFormat: '{if method}{method} {path} {status}{end}{if msg} {msg}{end}',
    });
    const write = (line: string) => stdout.write(pretty(line));
    return { logger: createLogger(level, { write }), end: async () => {} };
  }
  // It is no socket where it is a file, whatever its type says.
  const isSocket: boolean = stdout instanceof Socket;
  const { write, end } = isSocket ? streamDestination(stdout) : fileDestination(stdout.fd);
  return { logger: createLogger(level, { write }), end };
}

export function createLogger(level: string, destination: DestinationStream): Logger {
  return pino({ level, base: null, serializers: { err: loggableError } }, destination);
}

/** An error as logged: expected ones by their message, others with a stack. */
function loggableError(error: Error): object {
  const { name, message } = error;
  if (error instanceof StoreUnavailable) return { type: name, cause: error.fault, message };
  if (error instanceof CommandNotConfirmed) return { type: name, message };
  return { type: name, message, stack: error.stack };
}

/** Logs a request once its response has been sent or its client has left. */
export function logRequest(logger: Logger, exchange: Exchange, ms: number): void {
  const { id, request, response, path, keyId, refusal, client } = exchange;
  const level = response.statusCode >= 500 ? 'warn' : 'info';
  if (!logger.isLevelEnabled(level)) return;
  const code = refusal === undefined ? undefined : errorAnswer(refusal).code;
  logger[level](
    {
      requestId: id,
      method: request.method,
      // Without the query: v1 has no parameters there, and clients put secrets into it.
      path: loggable(path),
      status: response.headersSent ? response.statusCode : undefined,
      ms: rounded(ms),
      code,
      reason: refusal === code ? undefined : refusal,
      key: keyId,
      client,
      forwardedFor: forwardedFor(request),
      aborted: response.writableFinished ? undefined : true,
    },
    'request',
  );
}

/** What a proxy, or any client, says of the origin of a request. */
function forwardedFor({ headers }: IncomingMessage): string | undefined {
  const value = headers['x-forwarded-for'];
  if (value === undefined) return undefined;
  // A terminal would take some characters for commands.
  return loggable(String(value).slice(0, MAX_FORWARDED_FOR).replaceAll(/\p{C}/gu, '?'));
}

/** Rounds milliseconds to microseconds. */
export function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** A text without API keys, also without percent-encoded ones. */
function loggable(text: string): string {
  const decoded = text.includes('%') ? querystring.unescape(text) : text;
  const redacted = withoutSecrets(decoded);
  return redacted === decoded ? text : redacted;
}
