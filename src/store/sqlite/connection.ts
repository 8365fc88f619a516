import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { StoreNotUsable } from '../store.ts';
import { isBusy, isCannotOpen } from './errors.ts';

/** Older ones can lose a commit when two processes restart the write-ahead log at the same moment. */
const OLDEST_SQLITE = [3, 51, 3] as const;

/**
 * The connection that writes; nothing is changed yet. It waits for no lock by itself; see
 * `retryWhileBusy`. `file` is what was at `path` before.
 * @throws StoreNotUsable, and SQLite's own errors.
 */
export function openForWriting(path: string, create: boolean): { db: DatabaseSync; file: string } {
  refuseOldSqlite(process.versions.sqlite ?? '0');
  if (create && !existsSync(path)) {
    makeFolder(dirname(path));
    makeFile(path);
  } else if (!existsSync(path)) throw new StoreNotUsable('the database does not exist');
  if (existsSync(path) && !statSync(path).isFile()) throw new StoreNotUsable('it is not a file');
  const file = fileIdentity(path);
  return { db: new DatabaseSync(path, { timeout: 0, readBigInts: true }), file };
}

/** Makes commits durable. @throws StoreNotUsable when SQLite does not do as it is told */
export function makeDurable(db: DatabaseSync): void {
  // Asked for even if it is on already, and checked: the promises rest on these two.
  expectPragma(db, 'journal_mode = WAL', 'journal_mode', 'wal');
  expectPragma(db, 'synchronous = FULL', 'synchronous', 2n);
  // Bytes that the log keeps on disk when it starts over, after a long reader let it grow.
  db.exec('PRAGMA journal_size_limit = 67108864');
  // macOS only: there a plain fsync leaves the data in the drive's cache.
  db.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;');
}

/** Folders that are there already keep their modes. @throws StoreNotUsable */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StoreNotUsable(`cannot make its folder: ${(error as Error).message}`);
  }
}

/** An empty file, for SQLite to make a database of, that only its owner can read; SQLite's log beside it then too. */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
  } catch {
    // Another process has made it in this moment; or SQLite says, when it opens it, what is wrong.
  }
}

/**
 * A connection that only reads, and never waits: in WAL mode no writer blocks a reader. Rows come as
 * arrays unless that is told otherwise.
 */
export function openForReading(location: Location, returnArrays = true): DatabaseSync {
  return new DatabaseSync(location, {
    readOnly: true,
    timeout: 0,
    readBigInts: true,
    returnArrays,
  });
}

/** Where a database is, for SQLite to open: its path, or a URL with parameters. */
export type Location = string | URL;

/**
 * Where a database can be read that may be on a read-only disk: there SQLite cannot make the files beside it that
 * readers share, and has to be told that nothing else can write it either.
 * https://sqlite.org/uri.html#uriimmutable
 */
export function readableLocation(path: string): Location {
  const db = openForReading(path);
  try {
    db.prepare('SELECT 1 FROM sqlite_schema').get();
    return path;
  } catch (error) {
    if (!isCannotOpen(error) || existsSync(`${path}-wal`)) throw error;
    return new URL(`${pathToFileURL(path)}?immutable=1`);
  } finally {
    db.close();
  }
}

/** Pause between two tries for the write lock: short, to get in between another's transactions. */
const RETRY_MS = 0.5;

/**
 * Runs `use`, again and again while another process holds a lock, for at most `limitMs`. Blocks the
 * thread: for the writer's own only.
 */
export function retryWhileBusy<T>(limitMs: number, use: () => T): T {
  const until = performance.now() + limitMs;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      return use();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
      Atomics.wait(sleeper, 0, 0, RETRY_MS);
    }
  }
}

/** Which file is at `path`, wherever it may have been moved from. */
export function fileIdentity(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

function refuseOldSqlite(version: string): void {
  const parts = version.split('.').map(Number);
  for (const [index, oldest] of OLDEST_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part > oldest) return;
    if (part < oldest) {
      throw new StoreNotUsable(
        `this Node.js has SQLite ${version}; ${OLDEST_SQLITE.join('.')} or newer is needed`,
      );
    }
  }
}

function expectPragma(
  db: DatabaseSync,
  assignment: string,
  name: string,
  expected: string | bigint,
): void {
  db.exec(`PRAGMA ${assignment}`);
  const actual = db.prepare(`PRAGMA ${name}`).get()?.[name];
  if (actual !== expected) {
    throw new StoreNotUsable(`SQLite would not set ${assignment}; it stays at ${actual}`);
  }
}
