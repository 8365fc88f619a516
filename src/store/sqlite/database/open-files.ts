import { realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StoreNotUsable, StoreUnavailable } from '../../store.ts';
import { fileIdentity } from './connection.ts';

/** How often the files are compared when nothing is written. */
const FILES_COMPARED_MS = 1_000;
/** A folder that changed more recently can change again without another time: clocks of file systems tick every 1 to 10 ms. */
const SETTLED_NS = 50_000_000n;
/** How long checkpoints of the log are retried if readers prevent a complete one. */
const RESCUE_MS = 500;
const RETRY_MS = 5;

const SUFFIXES = ['', '-wal', '-shm'] as const;

/**
 * The files of an open database: itself, its log and the index of the log. SQLite keeps writing to files that were deleted or replaced, where no
 * other process, and no process after a restart, finds the changes: https://sqlite.org/howtocorrupt.html, 2.4. So the identities are compared
 * once a second and, if a folder of the files has changed, after each commit, before it is acknowledged (decision 041).
 * @param db a connection that has written, so that all files exist
 * @throws StoreNotUsable if one does not
 */
export function watchFiles(
  path: string,
  db: DatabaseSync,
  onLoss: (loss: StoreUnavailable) => void,
) {
  /** SQLite creates its other files next to the target of a link. */
  const real = realpathSync(path);
  const identities = () => {
    const beside = (suffix: string) => existing(real + suffix);
    return { '': existing(path), '-wal': beside('-wal'), '-shm': beside('-shm') };
  };
  const opened = identities();
  const missing = SUFFIXES.find((suffix) => opened[suffix] === undefined);
  if (missing !== undefined) throw new StoreNotUsable(`${real}${missing} is missing`);
  /** The folders as they were when the files were compared; undefined if they had just changed. */
  let folders: string | undefined;
  let loss: StoreUnavailable | undefined;
  /** Whether the log, which no other process can reach, must still be written into the database file. */
  let isToRescue = false;

  /** Returns identity and time of the folders of the files; undefined if one has just changed, or cannot be read. */
  const foldersNow = () => {
    const settledBy = BigInt(Date.now()) * 1_000_000n - SETTLED_NS;
    const paths = new Set([dirname(resolve(path)), dirname(real)]);
    try {
      const stats = [...paths].map((each) => statSync(each, { bigint: true }));
      if (stats.some(({ mtimeNs }) => mtimeNs > settledBy)) return undefined;
      return stats.map(({ dev, ino, mtimeNs }) => `${dev}:${ino}:${mtimeNs}`).join();
    } catch {
      return undefined;
    }
  };

  const findLoss = () => {
    const now = identities();
    const changed = SUFFIXES.filter((suffix) => now[suffix] !== opened[suffix]);
    if (changed.length === 0) return undefined;
    const names = changed.map((suffix) => {
      const what = now[suffix] === undefined ? 'was deleted' : 'was replaced';
      return `${suffix === '' ? resolve(path) : real + suffix} ${what}`;
    });
    // If another process may have opened the database since, writing could damage it.
    const mayRescue = changed.every((suffix) => suffix !== '' && now[suffix] === undefined);
    const isWhole = mayRescue && checkpoint(db);
    isToRescue = mayRescue && !isWhole;
    const rest = isWhole
      ? 'all changes are in the database file; restart the service'
      : isToRescue
        ? 'changes are still being written into the database file, which another process is reading; do not kill the service'
        : 'see "Files that are deleted or replaced" in docs/troubleshooting.md';
    const message = `${names.join(', ')} while in use; reads and writes are stopped; ${rest}`;
    return new StoreUnavailable(message, 'replaced');
  };

  const check = () => {
    const before = loss;
    try {
      // If readers have prevented the log from being written into the database file, that is retried.
      if (before === undefined || isToRescue) loss = findLoss() ?? before;
      if (loss !== undefined && loss.message !== before?.message) onLoss(loss);
    } catch {
      // The file system does not respond now; the next change or check detects the problem.
    }
  };
  // Also while nothing is written. Does not keep the thread alive.
  setInterval(check, FILES_COMPARED_MS).unref();

  /** @throws StoreUnavailable if an earlier comparison has found that a file is not the one that was opened */
  const expectNoLoss = () => {
    if (loss !== undefined) throw loss;
  };
  return {
    expectNoLoss,
    /**
     * @throws StoreUnavailable if a file is not the one that was opened, at this and every later call. If only the log or its
     *   index is missing, the content of the log is first written into the database file, so that a restart finds it.
     */
    expectUnchanged: () => {
      const now = foldersNow();
      if (now === undefined || now !== folders) loss ??= findLoss();
      folders = now;
      expectNoLoss();
    },
  };
}

/** Writes the content of the log into the database file. Returns whether all of it was written. */
function checkpoint(db: DatabaseSync): boolean {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (const until = performance.now() + RESCUE_MS; performance.now() < until; ) {
    try {
      const row = db.prepare('PRAGMA wal_checkpoint(FULL)').get()!;
      if (row.busy === 0n && row.log === row.checkpointed) return true;
    } catch {
      // For example a full disk; the loss is reported either way.
      return false;
    }
    Atomics.wait(sleeper, 0, 0, RETRY_MS);
  }
  return false;
}

/** Returns the identity of a file; undefined if there is none. */
function existing(path: string): string | undefined {
  try {
    return fileIdentity(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    // An unknown result must not be reported as success.
    throw new StoreUnavailable(message, 'failed', { cause: error });
  }
}
