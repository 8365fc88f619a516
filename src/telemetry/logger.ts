import { Socket } from 'node:net';
import { type DestinationStream, type Logger, pino } from 'pino';
import { TimedOut } from '../concurrency.ts';
import { NotConfirmed } from '../store/group-commit.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type Destination, fileDestination, streamDestination } from './log-destinations.ts';

export interface Log extends Pick<Destination, 'end' | 'reopen'> {
  readonly logger: Logger;
}

/** Creates a logger to stdout: JSON lines, or human-readable lines if stdout is a terminal. */
export async function createLog(level: string): Promise<Log> {
  const { stdout } = process;
  if (stdout.isTTY) {
    // Loaded on demand: importing it takes a tenth of the startup time.
    const { prettyFactory } = await import('pino-pretty');
    const pretty = prettyFactory({
      colorize: true,
      singleLine: true,
      translateTime: 'SYS:HH:MM:ss',
      // Already in the message.
      ignore: 'method,path,status',
      messageFormat: '{if method}{method} {path} {status}{end}{if msg} {msg}{end}',
    });
    const write = (line: string) => stdout.write(pretty(line));
    const logger = createLogger(level, { write });
    return { logger, end: async () => {}, reopen: () => undefined };
  }
  // If stdout is a file, it is not a Socket, despite its declared type.
  const isSocket: boolean = stdout instanceof Socket;
  const { write, end, reopen } = isSocket ? streamDestination(stdout) : fileDestination(stdout.fd);
  return { logger: createLogger(level, { write }), end, reopen };
}

export function createLogger(level: string, destination: DestinationStream): Logger {
  return pino({ level, base: null, serializers: { err: loggableError } }, destination);
}

/** Serializes an error for the log: expected errors by message, others with a stack. */
function loggableError(error: Error): object {
  const { name, message } = error;
  if (error instanceof StoreUnavailable) return { type: name, cause: error.fault, message };
  if (error instanceof NotConfirmed || error instanceof TimedOut)
    return { type: name, cause: 'slow', message };
  return { type: name, message, stack: error.stack };
}

/** Rounds milliseconds to microseconds. */
export function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
