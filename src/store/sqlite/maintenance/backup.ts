import { randomUUID } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Backup } from '../../backups.ts';
import { StoreNotUsable } from '../../store.ts';
import type { Findings } from '../../tables/consistency.ts';
import { COPY_NOT_COMPLETE } from '../../tables/store-row.ts';
import {
  databaseBeside,
  fileIdentity,
  makeFile,
  makeFolder,
  mayUse,
  readableLocation,
  readDatabase,
  syncFolder,
  syncToDisk,
} from '../database/connection.ts';
import { codeOf, withOpenErrors } from '../database/errors.ts';
import { migrationsOf } from '../database/schema.ts';
import { checkSqlite } from './check.ts';

/**
 * Makes a backup at `target`, an absolute path without a file. Its folder must exist: a missing one can be a disk that is not mounted. `copy`
 * writes the database to a temporary file beside it, which is checked, and renamed to `target` once it is complete and synced.
 * @param mustBeSound whether a store that fails the check is refused
 * @throws StoreNotUsable
 */
export async function makeBackup(
  target: string,
  copy: (partial: string) => void | Promise<void>,
  mustBeSound = true,
): Promise<Backup> {
  const folder = dirname(target);
  if (existsSync(target)) throw new StoreNotUsable(`${target} already exists`);
  const beside = databaseBeside(target);
  if (beside !== undefined) {
    throw new StoreNotUsable(
      `${target} would be deleted as a file of the database ${beside}; use another name`,
    );
  }
  expectFolder(folder);
  const leftovers = partialsIn(folder);
  let findings: Findings | undefined;
  let bytes = 0;
  await writeWhole(target, {
    write: async (partial) => {
      await copy(partial);
      await markAsBackup(partial);
      findings = await checkSqlite(partial);
      // Once it is in place, another process may delete it for a later one.
      bytes = statSync(partial).size;
      if (mustBeSound) expectSound(findings, 'the store failed the check; no backup was written');
    },
    putInPlace: (partial) => putBackup(partial, target),
  });
  return { bytes, findings: findings!, leftovers };
}

/** Gives a backup its name, unless another one has been given it meanwhile: a link replaces no file, as a rename does. @throws StoreNotUsable */
function putBackup(partial: string, target: string): void {
  try {
    linkSync(partial, target);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new StoreNotUsable(`${target} already exists`);
    // Some network and FAT file systems have no hard links.
    if (!WITHOUT_LINKS.includes(code)) throw error;
    renameSync(partial, target);
    return;
  }
  rmSync(partial);
}

const WITHOUT_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EMLINK'];

/** @throws StoreNotUsable if there is no such folder */
export function expectFolder(folder: string): void {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StoreNotUsable(`the folder ${folder} does not exist; create it, or mount its disk`);
  }
}

/** Returns the current time for the name of a file: 2026-11-22T10-00-00-000Z. */
export function timeForName(): string {
  return new Date().toISOString().replaceAll(/[:.]/g, '-');
}

/** @param further problems @throws StoreNotUsable with all problems, if there are any */
export function expectSound(
  { schemaDifferences, problems }: Findings,
  summary: string,
  further: readonly string[] = [],
): void {
  const all = [...further, ...schemaDifferences, ...problems];
  if (all.length > 0) throw new StoreNotUsable([`${summary}:`, ...all].join('\n  '));
}

const PARTIAL = /\.[0-9a-f]{8}-[0-9a-f-]{27}\.partial(?:-journal|-wal|-shm)?$/;

/** Returns the temporary files of backups in a folder. */
export function partialsIn(folder: string): string[] {
  if (!mayUse(folder, constants.R_OK)) return [];
  const names = readdirSync(folder).filter((name) => PARTIAL.test(name));
  return names.map((name) => join(folder, name));
}

/** The two steps of writing a file atomically: write a temporary file, then put it in place. */
interface WholeFile {
  readonly write: (partial: string) => Promise<void>;
  readonly putInPlace: (partial: string) => void | Promise<void>;
}

/**
 * Writes a file atomically by way of a temporary file beside `target`, synced before it is put in place. Removes the temporary file on failure.
 * @throws StoreNotUsable
 */
export async function writeWhole(target: string, { write, putInPlace }: WholeFile): Promise<void> {
  const partial = `${target}.${randomUUID()}.partial`;
  const cannotWrite = (error: unknown) => {
    const reason = isFull(error) ? fullDisk(target) : (error as Error).message;
    return new StoreNotUsable(`cannot write ${target}: ${reason}`);
  };
  try {
    makeFolder(dirname(target));
    accessSync(dirname(target), constants.W_OK | constants.X_OK);
    // A folder that cannot be synced is found before anything is replaced.
    syncFolder(dirname(target));
  } catch (error) {
    throw cannotWrite(error);
  }
  try {
    makeFile(partial);
    await write(partial);
    syncToDisk(partial);
    const [written, { size }] = [fileIdentity(partial), statSync(partial)];
    await putInPlace(partial);
    // On some network file systems a file gets another inode when it is renamed.
    if (fileIdentity(target) !== written && statSync(target).size !== size) {
      throw new StoreNotUsable(
        `${target} is not the file that was written; another program has replaced it`,
      );
    }
    syncInPlace(target);
  } catch (error) {
    const failure = error instanceof StoreNotUsable && !isFull(error) ? error : cannotWrite(error);
    for (const suffix of ['', '-wal', '-shm', '-journal'])
      rmSync(partial + suffix, { force: true });
    throw failure;
  }
}

/** @throws StoreNotUsable */
function syncInPlace(target: string): void {
  try {
    syncFolder(dirname(target));
  } catch (error) {
    throw new StoreNotUsable(
      `${target} is in place, but its name may not survive a power failure: ${(error as Error).message}`,
    );
  }
}

function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isCode = codeOf(error) === 'full' || (error as NodeJS.ErrnoException).code === 'ENOSPC';
  return isCode || isFull(error.cause);
}

/** Names the full disk: the target's, or the one for temporary files, which sorting can need. */
function fullDisk(target: string): string {
  const disks = [dirname(resolve(target)), process.env.SQLITE_TMPDIR ?? tmpdir()].map((folder) => {
    const { bavail, bsize } = statfsSync(folder);
    return { folder, free: bavail * bsize };
  });
  const [fullest] = disks.sort((one, other) => one.free - other.free);
  return `the disk of ${fullest!.folder} is full (${Math.floor(fullest!.free / 2 ** 20)} MiB free)`;
}

/**
 * Copies the database at `path`, of this release or an earlier one, to `target`: one snapshot, even during writes, with no separate write-ahead log.
 * @throws StoreNotUsable if there is no store
 */
export function copySqlite(path: string, target: string): void {
  withOpenErrors(path, () =>
    readDatabase(readableLocation(path), (db) => {
      migrationsOf(db);
      if (db.prepare('SELECT 1 FROM store').get() === undefined) {
        throw new StoreNotUsable(COPY_NOT_COMPLETE);
      }
      db.prepare('VACUUM INTO ?').run(resolve(target));
    }),
  );
}

/**
 * Marks a copy as a backup. Clears the id that the store of an earlier release has: that release gives the backup another one when it serves
 * it. The copy has no log, since a check would leave the log's files.
 */
function markAsBackup(path: string): Promise<void> {
  return changeDatabase(path, (db) => {
    changeStore(db, { id: '', origin: '', backup_at: Date.now() });
    db.exec('PRAGMA journal_mode = DELETE');
  });
}

/** Turns a backup into a usable store, in WAL mode, which `copy` and readers expect. */
export function makeUsable(path: string): Promise<void> {
  return changeDatabase(path, (db) => {
    changeStore(db, { origin: '', backup_at: null });
    db.exec('PRAGMA journal_mode = WAL');
  });
}

export async function changeDatabase<T>(
  path: string,
  change: (db: DatabaseSync) => T | Promise<T>,
): Promise<T> {
  using db = new DatabaseSync(resolve(path), { readBigInts: true });
  return await change(db);
}

/** Sets columns of the table store, skipping those that an earlier schema lacks. */
function changeStore(db: DatabaseSync, values: Readonly<Record<string, SQLInputValue>>): void {
  const columns = db.prepare('PRAGMA table_info(store)').all();
  for (const [name, value] of Object.entries(values)) {
    if (columns.every((column) => column.name !== name)) continue;
    db.prepare(`UPDATE store SET ${name} = ?`).run(value);
  }
}
