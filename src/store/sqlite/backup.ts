import { randomUUID } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { StoreNotUsable } from '../store.ts';
import { COPY_NOT_COMPLETE } from '../tables.ts';
import { makeFile, makeFolder, readableLocation, readDatabase } from './connection.ts';
import { withOpenErrors } from './errors.ts';
import { missingMigrations } from './schema.ts';

/**
 * Makes a backup at `target`, which must not exist. `copy` writes the database to a temporary file beside it, which
 * is renamed to `target` once it is complete and synced.
 * @throws StoreNotUsable
 */
export async function makeBackup(
  target: string,
  copy: (partial: string) => Promise<void>,
): Promise<void> {
  if (existsSync(target)) throw new StoreNotUsable(`${target} already exists`);
  await writeWhole(target, {
    write: async (partial) => {
      await copy(partial);
      markAsBackup(partial);
    },
    putInPlace: (partial) => renameSync(partial, target),
  });
}

/** The two steps of writing a file atomically: write a temporary file, then put it in place. */
export interface WholeFile {
  readonly write: (partial: string) => Promise<void>;
  readonly putInPlace: (partial: string) => void;
}

/**
 * Writes a file atomically by way of a temporary file beside `target`, synced before it is put in place. Removes the
 * temporary file on failure.
 * @throws StoreNotUsable
 */
export async function writeWhole(target: string, { write, putInPlace }: WholeFile): Promise<void> {
  const partial = `${target}.${randomUUID()}.partial`;
  const cannotWrite = (error: unknown) =>
    new StoreNotUsable(`cannot write ${target}: ${(error as Error).message}`);
  try {
    makeFolder(dirname(target));
    accessSync(dirname(target), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw cannotWrite(error);
  }
  try {
    makeFile(partial);
    await write(partial);
    syncToDisk(partial);
    putInPlace(partial);
    syncToDisk(dirname(target));
  } catch (error) {
    for (const file of [partial, `${partial}-wal`, `${partial}-shm`, `${partial}-journal`]) {
      if (existsSync(file)) rmSync(file);
    }
    throw error instanceof StoreNotUsable ? error : cannotWrite(error);
  }
}

/**
 * Copies the database at `path`, of this release or an earlier one, to `target`: one snapshot, even during writes,
 * with no separate write-ahead log.
 * @throws StoreNotUsable if there is no store
 */
export function copySqlite(path: string, target: string): void {
  withOpenErrors(path, () =>
    readDatabase(readableLocation(path), (db) => {
      missingMigrations(db);
      if (db.prepare('SELECT 1 FROM store').get() === undefined) {
        throw new StoreNotUsable(COPY_NOT_COMPLETE);
      }
      db.prepare('VACUUM INTO ?').run(target);
    }),
  );
}

/**
 * Marks a copy as a backup and clears its id. The original and each store restored from the copy reach the same
 * revisions with different orders, so each store gets an id of its own, and with it other ETags, when it is served.
 */
function markAsBackup(path: string): void {
  changeDatabase(path, (db) => changeStore(db, { id: '', origin: '', backup_at: Date.now() }));
}

/** Turns a backup into a usable store, in WAL mode, which `copy` and readers expect. */
export function makeUsable(path: string): void {
  changeDatabase(path, (db) => {
    changeStore(db, { id: '', backup_at: null });
    db.exec('PRAGMA journal_mode = WAL');
  });
}

function changeDatabase(path: string, change: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(path);
  try {
    change(db);
  } finally {
    db.close();
  }
}

/** Sets columns of the table store, skipping those that an earlier schema lacks. */
function changeStore(db: DatabaseSync, values: Readonly<Record<string, SQLInputValue>>): void {
  const columns = db.prepare('PRAGMA table_info(store)').all();
  for (const [name, value] of Object.entries(values)) {
    if (columns.every((column) => column.name !== name)) continue;
    db.prepare(`UPDATE store SET ${name} = ?`).run(value);
  }
}

export function syncToDisk(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
