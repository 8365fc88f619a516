import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StoreNotUsable, StoreUnavailable } from '../../store.ts';
import { fileIdentity } from './connection.ts';

/** How often the files are compared when nothing is written. */
export const FILES_COMPARED_MS = 1_000;
/** How long the log is checkpointed again and again if readers prevent that it is complete. */
const RESCUE_MS = 500;
const RETRY_MS = 5;

const SUFFIXES = ['', '-wal', '-shm'] as const;
type Identities = Readonly<Record<(typeof SUFFIXES)[number], string | undefined>>;

/**
 * The files of an open database: itself, its log and the index of the log. SQLite keeps writing to files that were deleted or
 * replaced, where no other process finds the changes, and none after a restart: https://sqlite.org/howtocorrupt.html, 2.4.
 * So the identities are compared before a change is acknowledged, and once a second.
 */
export class OpenFiles {
  readonly #path: string;
  /** SQLite has its other files beside the file that a link leads to. */
  readonly #real: string;
  readonly #db: DatabaseSync;
  readonly #opened: Identities;
  #loss: StoreUnavailable | undefined;
  /** Whether the log, which only this process has, is still to be written into the database file. */
  #isToRescue = false;

  /**
   * @param db a connection that has written, so that all files exist
   * @throws StoreNotUsable if one does not
   */
  constructor(path: string, db: DatabaseSync) {
    this.#path = path;
    this.#real = realpathSync(path);
    this.#db = db;
    this.#opened = this.#identities();
    const missing = SUFFIXES.find((suffix) => this.#opened[suffix] === undefined);
    if (missing !== undefined) throw new StoreNotUsable(`${this.#real}${missing} is missing`);
  }

  /**
   * @throws StoreUnavailable if a file is not the one that was opened, then and ever after. If only the log or its index is
   *   missing, what the log has is written into the database before, so that a restart finds it.
   */
  expectUnchanged(): void {
    this.#loss ??= this.#findLoss();
    if (this.#loss !== undefined) throw this.#loss;
  }

  /**
   * Called once a second: compares the files and, if readers have prevented that the log is written into the database file, tries
   * that again.
   * @returns the loss, if it was found now or what it says has changed
   */
  look(): StoreUnavailable | undefined {
    const before = this.#loss;
    if (before === undefined || this.#isToRescue) this.#loss = this.#findLoss() ?? before;
    return this.#loss?.message === before?.message ? undefined : this.#loss;
  }

  #findLoss(): StoreUnavailable | undefined {
    const now = this.#identities();
    const changed = SUFFIXES.filter((suffix) => now[suffix] !== this.#opened[suffix]);
    if (changed.length === 0) return undefined;
    const names = changed.map((suffix) => {
      const what = now[suffix] === undefined ? 'was deleted' : 'was replaced';
      return `${suffix === '' ? resolve(this.#path) : this.#real + suffix} ${what}`;
    });
    // Where another process may have opened the database since, writing to it could damage it.
    const mayRescue = changed.every((suffix) => suffix !== '' && now[suffix] === undefined);
    const isWhole = mayRescue && this.#checkpoint();
    this.#isToRescue = mayRescue && !isWhole;
    const rest = isWhole
      ? 'all changes are in the database file: start the service again'
      : this.#isToRescue
        ? 'changes are being written into the database file, which another process still reads: do not kill the service'
        : 'see "Files that are deleted or replaced" in docs/operating.md';
    const message = `${names.join(', ')} while the service used it; nothing more is read or written; ${rest}`;
    return new StoreUnavailable(message, 'replaced');
  }

  /** Writes what the log has into the database file. Returns whether that is complete. */
  #checkpoint(): boolean {
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    for (const until = performance.now() + RESCUE_MS; performance.now() < until; ) {
      try {
        const row = this.#db.prepare('PRAGMA wal_checkpoint(FULL)').get()!;
        if (row.busy === 0n && row.log === row.checkpointed) return true;
      } catch {
        // Such as a full disk: the loss is reported either way.
        return false;
      }
      Atomics.wait(sleeper, 0, 0, RETRY_MS);
    }
    return false;
  }

  #identities(): Identities {
    const beside = (suffix: string) => existing(this.#real + suffix);
    return { '': existing(this.#path), '-wal': beside('-wal'), '-shm': beside('-shm') };
  }
}

/** Returns the identity of a file; undefined if there is none. */
function existing(path: string): string | undefined {
  try {
    return fileIdentity(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    // What is unknown is not reported as success.
    throw new StoreUnavailable(message, 'failed', { cause: error });
  }
}
