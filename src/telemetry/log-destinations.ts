import { writeSync } from 'node:fs';
import type { Socket } from 'node:net';

/** Where log lines go. */
export interface Destination {
  readonly write: (lines: string) => void;
  /** Writes out what has gathered, unless nobody reads it. */
  readonly end: () => Promise<void>;
}

/** Characters of log that gather for one write, and for how long: fewer, larger writes under load. */
const BUFFER_LENGTH = 4096;
const FLUSH_EVERY_MS = 250;
/** Bytes of log that may wait for a reader who has stopped reading, or for room on a disk; further lines are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** How long the end of the program waits for the log to be read. */
const LAST_FLUSH_MS = 500;

/**
 * Neither a reader who stops nor one who leaves may hold the service up: writes to a pipe do not
 * block, what they would wait for is bounded, and nothing here waits without a limit.
 */
export function streamDestination(stdout: Socket): Destination {
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  // In place of what ends other commands: a service goes on when nobody reads its log.
  stdout.removeAllListeners('error');
  stdout.on('error', () => {
    isClosed = true;
  });

  const flush = (then?: () => void): void => {
    clearTimeout(timer);
    timer = undefined;
    if (!isClosed && stdout.writableLength < MAX_WAITING_BYTES) stdout.write(text, then);
    text = '';
  };
  process.on('exit', () => flush());
  return {
    write(lines: string): void {
      text += lines;
      if (text.length >= BUFFER_LENGTH) flush();
      else timer ??= setTimeout(flush, FLUSH_EVERY_MS).unref();
    },
    end: () =>
      new Promise<void>((resolve) => {
        setTimeout(resolve, LAST_FLUSH_MS);
        flush(resolve);
      }),
  };
}

/**
 * A file. What cannot be written, on a full disk say, is tried again until it can; what is lost meanwhile is
 * counted in the log.
 */
export function fileDestination(fd: number, maxWaitingBytes = MAX_WAITING_BYTES): Destination {
  let text = '';
  /** The end of what was written in part, or not at all. */
  let rest: Buffer = Buffer.alloc(0);
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    rest = unwritten(fd, rest);
    if (rest.length === 0) {
      rest = unwritten(fd, Buffer.from(text));
      text = '';
    }
    if (rest.length > 0) timer = setTimeout(flush, FLUSH_EVERY_MS).unref();
    else if (lost > 0) {
      const msg = 'log lines were lost: they could not be written';
      text = `${JSON.stringify({ level: 40, time: Date.now(), lost, msg })}\n`;
      lost = 0;
      flush();
    }
  };
  process.on('exit', flush);
  return {
    write: (lines) => {
      if (rest.length + text.length > maxWaitingBytes) lost += 1;
      else text += lines;
      if (rest.length === 0 && text.length >= BUFFER_LENGTH) flush();
      else timer ??= setTimeout(flush, FLUSH_EVERY_MS).unref();
    },
    end: async () => flush(),
  };
}

/** Writes as much as there is room for. @returns what is left */
function unwritten(fd: number, bytes: Buffer): Buffer {
  let at = 0;
  try {
    while (at < bytes.length) at += writeSync(fd, bytes, at);
  } catch {
    // Whatever it is, it may be over later.
  }
  return bytes.subarray(at);
}
