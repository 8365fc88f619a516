import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { StoreNotUsable } from '../store.ts';
import { COPY_NOT_COMPLETE } from '../tables.ts';
import { makeFile, makeFolder, openForReading, readableLocation } from './connection.ts';
import { opening } from './errors.ts';
import { missingMigrations } from './schema.ts';

/**
 * Has `copy` write a database to a file beside `target`, which must not exist. It appears under that
 * name only when it is complete and on disk.
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

/** How a file is made as a whole: written beside its place, and then put there. */
export interface WholeFile {
  readonly write: (partial: string) => Promise<void>;
  readonly putInPlace: (partial: string) => void;
}

/** Has a backup written beside `target` and, when it is on disk, put there; whatever fails, nothing is left beside it. */
export async function writeWhole(target: string, { write, putInPlace }: WholeFile): Promise<void> {
  const partial = `${target}.${randomUUID()}.partial`;
  const cannotWrite = (error: unknown) =>
    new StoreNotUsable(`cannot write ${target}: ${(error as Error).message}`);
  try {
    makeFolder(dirname(target));
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
 * Copies the database at `path`, of this release or an earlier one: one snapshot, also while others write,
 * without the log beside it.
 * @throws StoreNotUsable where there is no store
 */
export function copySqlite(path: string, target: string): void {
  opening(path, () => {
    if (!existsSync(path)) throw new StoreNotUsable('the database does not exist');
    const db = openForReading(readableLocation(path), false);
    try {
      missingMigrations(db);
      if (db.prepare('SELECT 1 FROM store').get() === undefined) {
        throw new StoreNotUsable(COPY_NOT_COMPLETE);
      }
      db.prepare('VACUUM INTO ?').run(target);
    } finally {
      db.close();
    }
  });
}

/**
 * A store that goes on from a copy reaches revisions that the original had too, with other orders, and so does
 * one that is restored from the same copy once more. Each gets an id of its own when it is served, and
 * with it other ETags.
 */
function markAsBackup(path: string): void {
  changeStore(path, { id: '', backup_at: Date.now() });
}

/** Makes a copy a store to be used, and no backup any more; in WAL mode, as `copy` and readers expect of one. */
export function makeUsable(path: string): void {
  changeStore(path, { id: '', backup_at: null });
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL');
  db.close();
}

/** Sets those columns that the schema, which may be that of an earlier release, has. */
function changeStore(path: string, values: Readonly<Record<string, SQLInputValue>>): void {
  const db = new DatabaseSync(path);
  try {
    const columns = new Set(
      db
        .prepare('PRAGMA table_info(store)')
        .all()
        .map(({ name }) => name),
    );
    for (const [name, value] of Object.entries(values)) {
      if (columns.has(name)) db.prepare(`UPDATE store SET ${name} = ?`).run(value);
    }
  } finally {
    db.close();
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
