import { Socket } from 'node:net';
import { type DestinationStream, type Logger, pino } from 'pino';
import { NotConfirmed } from '../store/batcher.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type Destination, fileDestination, streamDestination } from './log-destinations.ts';

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
  if (error instanceof NotConfirmed) return { type: name, message };
  return { type: name, message, stack: error.stack };
}

/** Rounds milliseconds to microseconds. */
export function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
