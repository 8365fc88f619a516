import { closeSync, openSync, readlinkSync, statSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';

export interface Destination {
  readonly write: (lines: string) => void;
  /** Flushes buffered lines; waits for a stalled reader or a full disk only up to a limit. */
  readonly end: () => Promise<void>;
  /**
   * Reopens the log file under its name, after it was renamed. After a failure the log continues in the open file. Undefined if the log is not a
   * file.
   */
  readonly reopen: () => ReopenedLog | undefined;
}

interface ReopenedLog {
  readonly path: string;
  /** Why the file could not be reopened; undefined if it was. */
  readonly problem?: string;
}

/** Characters buffered for one write, and for how long: fewer, larger writes under load. */
const BUFFER_LENGTH = 4096;
const FLUSH_EVERY_MS = 250;
/** Maximum bytes of log buffered for a stalled reader or a full disk; further lines are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** How long the process waits at exit for the log to be read. */
const LAST_FLUSH_MS = 500;

/**
 * Writes the log to a stream. A reader that stalls or disconnects must not block the service: writes to a pipe are
 * asynchronous, the buffer is bounded, and every wait has a limit.
 */
export function streamDestination(stdout: Socket): Destination {
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  // Replaces the listener that ends other commands: the service continues without a log reader.
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
    reopen: () => undefined,
  };
}

/**
 * Writes the log to a file. Failed writes, for example on a full disk, are retried until they succeed; then the number of dropped lines is
 * logged.
 */
export function fileDestination(stdout: number, maxWaitingBytes = MAX_WAITING_BYTES): Destination {
  const path = pathOf(stdout);
  let fd = stdout;
  let text = '';
  /** Remainder of a partial or failed write. */
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
      const msg = 'log lines were lost because they could not be written';
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
    reopen: () => {
      if (path === undefined) return undefined;
      flush();
      try {
        const next = openSync(path, 'a', 0o600);
        // Standard output itself stays open.
        if (fd !== stdout) closeSync(fd);
        fd = next;
        return { path };
      } catch (error) {
        return { path, problem: (error as Error).message };
      }
    },
  };
}

/** Returns the path of an open file; only Linux provides it. */
function pathOf(fd: number): string | undefined {
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`);
    return statSync(path).isFile() ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Writes as many bytes as possible. @returns the remaining bytes */
function unwritten(fd: number, bytes: Buffer): Buffer {
  let at = 0;
  try {
    while (at < bytes.length) at += writeSync(fd, bytes, at);
  } catch {
    // The error may be temporary; the remaining bytes are retried.
  }
  return bytes.subarray(at);
}
