import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { containsPart } from '../../../../protocol/caseless.ts';
import { StoreNotUsable } from '../../store.ts';
import { codeOf } from './errors.ts';
import { expectOneName } from './one-name.ts';

export const SQLITE = 'sqlite:';

/**
 * Returns the file of a `sqlite:PATH` URL: sqlite:relative/path, sqlite:///absolute/path, or sqlite:~/path in the home folder. The path is
 * absolute, since SQLite reads a name that begins with "file:" as a URI.
 */
export function sqlitePath(url: string): string {
  const path = url.slice(SQLITE.length);
  if (path.startsWith('~/')) return join(homedir(), path.slice(2));
  return resolve(path.startsWith('//') ? path.slice(2) : path);
}

/** Files beside a database: SQLite applies or deletes them with it, and `-ids` is overwritten. */
const BESIDE = /-(?:wal|shm|journal|ids)$/;

/** Returns the database to which a file with the name of `path` belongs; undefined for other names. */
export function databaseBeside(path: string): string | undefined {
  return BESIDE.test(path) ? path.replace(BESIDE, '') : undefined;
}

export function sqlitePathProblem(url: string): string | undefined {
  const path = url.slice(SQLITE.length);
  // Refused, since users do not expect a file with the name ":memory:" or "file:…".
  if (path === '' || /^(?::|file:)/i.test(path) || path.endsWith('/')) {
    return 'must name a database file, such as sqlite:data/store-orders.db';
  }
  if (/[?#\0]/.test(path)) return 'must be a plain path, without parameters';
  if (path.trim() !== path) return 'must not begin or end with white space';
  const variable = /\$\{?[A-Z_]+/.exec(path)?.[0];
  if (variable !== undefined && !existsSync(dirname(path))) {
    return `has ${variable}, which nothing replaces here: write the folder itself`;
  }
  const beside = databaseBeside(path);
  if (beside !== undefined && existsSync(beside)) {
    return `must not name a file that belongs to the database ${beside}`;
  }
  if (!path.startsWith('~')) return undefined;
  if (!path.startsWith('~/')) {
    return existsSync(path)
      ? undefined
      : 'must begin with ~/ for a file in the home folder of this user';
  }
  return hasHome()
    ? undefined
    : 'must be an absolute path, since this user has no home folder (HOME)';
}

function hasHome(): boolean {
  try {
    return isAbsolute(homedir());
  } catch {
    return false;
  }
}

/** Older versions can lose a commit when two processes restart the write-ahead log at the same time. */
const OLDEST_SQLITE = '3.51.3';

/**
 * Opens the connection that writes, without changing an existing database. It does not wait for locks. `file` is that at `path` before it was opened.
 * @throws StoreNotUsable, and SQLite's own errors
 */
export function openForWriting(path: string, create: boolean): { db: DatabaseSync; file: string } {
  const version = process.versions.sqlite ?? '0';
  if (version.localeCompare(OLDEST_SQLITE, 'en', { numeric: true }) < 0) {
    throw new StoreNotUsable(
      `this Node.js has SQLite ${version}; ${OLDEST_SQLITE} or newer is needed`,
    );
  }
  if (create && !existsSync(path)) {
    expectNoFormerStore(path, 'does not exist');
    makeFolder(dirname(path));
    const failure = makeFile(path);
    if (!existsSync(path)) throw new StoreNotUsable(whyMissing(path, failure));
  } else {
    expectFile(path);
    if (statSync(path).size === 0) expectNoFormerStore(realpathSync(path), 'is empty');
  }
  expectOneName(path);
  const file = fileIdentity(path);
  return { db: new DatabaseSync(resolve(path), { timeout: 0, readBigInts: true }), file };
}

/**
 * Makes commits durable.
 * @throws StoreNotUsable if SQLite does not apply a setting
 */
export function makeDurable(db: DatabaseSync): void {
  // Set even if already on, and verified: durability depends on these two.
  expectPragma(db, 'journal_mode', 'WAL', 'wal');
  expectPragma(db, 'synchronous', 'FULL', 2n);
  // Bytes that the log keeps on disk when it restarts, after a long read has let it grow.
  db.exec('PRAGMA journal_size_limit = 67108864');
  // macOS only: there a plain fsync leaves the data in the drive's cache.
  db.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;');
}

/**
 * Creates a folder and its parents, readable by the owner only. Existing folders keep their modes. Syncs the names of new folders: SQLite syncs
 * only the folder of a database, and a power failure can remove a folder whose name was not synced.
 * @throws StoreNotUsable
 */
export function makeFolder(path: string): void {
  try {
    const folder = resolve(path);
    const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let made = folder; made.length >= first.length; made = dirname(made)) {
      syncFolder(dirname(made));
    }
  } catch (error) {
    throw new StoreNotUsable(`cannot create its folder: ${(error as Error).message}`);
  }
}

/** What file systems report that cannot sync a folder, such as CIFS of old kernels. SQLite ignores it as well. */
const CANNOT_SYNC_FOLDERS = ['EINVAL', 'ENOTSUP', 'ENOSYS'];

/** Syncs the names in a folder, where the file system can. @throws errors of the file system */
export function syncFolder(path: string): void {
  try {
    syncToDisk(path);
  } catch (error) {
    if (!CANNOT_SYNC_FOLDERS.includes((error as NodeJS.ErrnoException).code!)) throw error;
  }
}

/** Syncs a file. */
export function syncToDisk(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Creates an empty database file readable by the owner only; SQLite gives its log the same mode. Returns the error if it did not: another process may
 * just have created the file, and SQLite reports other problems when it opens it.
 */
export function makeFile(path: string): NodeJS.ErrnoException | undefined {
  try {
    closeSync(openSync(path, 'ax', 0o600));
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

/** Gives a file the owner of another file or folder, if this is root, and the mode of a file. */
export function takeRights(path: string, like: string): void {
  const stat = statSync(like);
  if (process.getuid?.() === 0) chownSync(path, stat.uid, stat.gid);
  if (stat.isFile()) chmodSync(path, stat.mode);
}

/** `containsPart`, as a function of the connections that read. */
export const CONTAINS_PART = 'contains_part';

/** In WAL mode writers do not block readers. The first process to open a database and the last to close it do, for the time of some syncs. */
const READ_WAIT_MS = 5_000;

/** Opens a read-only connection. Its rows are objects; those of a Session are arrays. */
export function openForReading(location: Location): DatabaseSync {
  const options = { readOnly: true, timeout: READ_WAIT_MS, readBigInts: true };
  const db = new DatabaseSync(typeof location === 'string' ? resolve(location) : location, options);
  db.function(CONTAINS_PART, { deterministic: true }, (reference, part) =>
    Number(containsPart(reference as string | null, part as string)),
  );
  return db;
}

/** Runs `use` with a read-only connection, then closes it. */
export function readDatabase<T>(location: Location, use: (db: DatabaseSync) => T): T {
  using db = openForReading(location);
  return use(db);
}

/** @throws StoreNotUsable if there is no file at `path`, or this user may not find it. A FIFO would be waited for. */
function expectFile(path: string): void {
  if (!existsSync(path)) throw new StoreNotUsable(whyMissing(path));
  if (!statSync(path).isFile()) throw new StoreNotUsable('it is not a file');
}

/**
 * A missing or empty file becomes a new store, unless it had one: beside it are that store's log, which SQLite would delete, and its last id, which
 * a restore needs.
 * @throws StoreNotUsable
 */
function expectNoFormerStore(file: string, is: 'is empty' | 'does not exist'): void {
  const left = ['-wal', '-ids'].filter((end) => sizeOf(file + end) > 0).map((end) => file + end);
  // Another process may have made the file, and then those beside it.
  if (left.length === 0 || (is === 'does not exist' && existsSync(file))) return;
  throw new StoreNotUsable(
    `it ${is}, and had a store before, of which ${left.join(' and ')} is left: restore a backup, or, for a new store, delete them`,
  );
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    // It does not exist. A folder that this user may not enter is reported when the database is opened.
    return 0;
  }
}

/** @param failure the error of an attempt to create the file */
function whyMissing(path: string, failure?: NodeJS.ErrnoException): string {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
      return 'it is a link to a file that does not exist';
    }
    if (failure === undefined) return 'the database does not exist';
    const reason =
      failure.code === 'EACCES'
        ? `this user may not write to ${dirname(resolve(path))}`
        : failure.message;
    return `it cannot be created: ${reason}`;
  } catch (error) {
    // For example a folder that this user may not enter.
    return `${(error as Error).message}; run the command as the owner of the database (runuser -u store-orders -- …)`;
  }
}

/** Advice for commands that only read. */
const READ_AS_OWNER =
  'while no service uses it, reading it creates files in its folder, for which this user lacks permission; run the command as its owner (runuser -u store-orders -- …)';

/** Location of a database for SQLite to open: a path, or a URL with parameters. */
export type Location = string | URL;

/**
 * Returns a location for reading a database that may be on a read-only disk. There SQLite cannot create the files that readers share, and needs
 * a parameter that rules out writers. https://sqlite.org/uri.html#uriimmutable
 * @throws StoreNotUsable if there is no file at `path`, its log may be elsewhere, or this user may not create the files that readers share
 */
export function readableLocation(path: string): Location {
  expectFile(path);
  // SQLite would delete the log beside it.
  if (statSync(path).size === 0) throw new StoreNotUsable('it is empty');
  const hasLog = sizeOf(`${realpathSync(path)}-wal`) > 0;
  using db = openForReading(path);
  try {
    db.prepare('SELECT 1 FROM sqlite_schema').get();
    // Backups have no log. What is only in the log of another name would be missing.
    const mode = db.prepare('PRAGMA journal_mode').get()!.journal_mode;
    if (mode === 'wal' && !hasLog) expectOneName(path);
    return path;
  } catch (error) {
    if (codeOf(error) === 'read-only') throw new StoreNotUsable(READ_AS_OWNER, { cause: error });
    if (codeOf(error) !== 'cannot open') throw error;
    // Changes that are only in the log cannot be read without the log's index.
    if (hasLog) {
      if (mayUse(path, constants.R_OK)) throw new StoreNotUsable(READ_AS_OWNER, { cause: error });
      throw error;
    }
    expectOneName(path);
    return new URL(`${pathToFileURL(path)}?immutable=1`);
  }
}

/** Returns whether this user may use a file or folder. @param mode of constants, such as R_OK */
export function mayUse(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** Pause between two attempts to take the write lock: short enough to fit between another process's transactions. */
const RETRY_MS = 0.5;

/** Runs `use`, and retries for up to `limitMs` while another process holds a lock. Blocks the thread: only for the writer's. */
export function retryWhileBusy<T>(limitMs: number, use: () => T): T {
  const until = performance.now() + limitMs;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      return use();
    } catch (error) {
      if (codeOf(error) !== 'busy' || performance.now() >= until) throw error;
      Atomics.wait(sleeper, 0, 0, RETRY_MS);
    }
  }
}

/** Returns the device and inode of the file at `path`, which stay the same when it is renamed. */
export function fileIdentity(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

function expectPragma(db: DatabaseSync, name: string, value: string, expected: string | bigint) {
  const assignment = `${name} = ${value}`;
  db.exec(`PRAGMA ${assignment}`);
  const actual = db.prepare(`PRAGMA ${name}`).get()?.[name];
  if (actual !== expected) {
    throw new StoreNotUsable(`SQLite did not apply ${assignment}; the value is still ${actual}`);
  }
}
