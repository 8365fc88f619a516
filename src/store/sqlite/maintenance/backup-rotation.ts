import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { LatestBackup, Rotated, Rotation } from '../../backups.ts';
import { StoreNotUsable } from '../../store.ts';
import { mayUse, readableLocation, readDatabase } from '../database/connection.ts';
import { codeOf, withOpenErrors } from '../database/errors.ts';
import { copySqlite, expectFolder, makeBackup, partialsIn, timeForName } from './backup.ts';

/** https://sqlite.org/fileformat.html#the_database_header */
const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
/** A backup that is dated later than this from now has the time of a wrong clock: it is ignored, and not deleted. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * Makes a backup of the store at `path` if one is due, checks it, and deletes the oldest beyond `keep`. Processes that share the store make one
 * at a time, under a lock on a file beside the backups, which ends with its process. Blocks the thread.
 * @throws StoreNotUsable, and errors of the file system
 */
export async function rotateBackups(path: string, rotation: Rotation): Promise<Rotated> {
  const { folder, everyMs } = rotation;
  expectFolder(folder);
  const prefix = prefixOf(path);
  const before = latestOf(prefix, folder);
  if (!isDue(before, everyMs)) return { latest: before };
  using lock = openLock(resolve(folder, '.store-orders-backup-lock'));
  try {
    lock.exec('BEGIN EXCLUSIVE');
    // Another process may have made one while this one waited for the lock.
    const now = latestOf(prefix, folder);
    if (!isDue(now, everyMs)) return { latest: now };
    // A process that was killed has left them: no other process makes a backup while the lock is held.
    const partials = partialsIn(folder).filter((each) => each.includes(prefix));
    const left = deleteEach(partials);
    const target = join(folder, `${prefix}${timeForName()}.db`);
    const made = await makeBackup(target, (partial) => copySqlite(path, partial));
    const older = pastBackups(prefix, folder).slice(0, -rotation.keep);
    const undeleted = [...left, ...deleteEach(older.map(({ file }) => file))];
    return { latest: latestOf(prefix, folder), made, undeleted };
  } catch (error) {
    if (codeOf(error) !== 'busy') throw error;
    return { latest: latestOf(prefix, folder) };
  }
}

/** @throws StoreNotUsable, for example for the lock of another user */
function openLock(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw new StoreNotUsable(`cannot open ${path}: ${(error as Error).message}`);
  }
}

/** Returns the latest backup of the store at `path`; undefined if there is none. @throws errors of the file system */
export function latestBackup(path: string, folder: string): LatestBackup | undefined {
  return latestOf(prefixOf(path), folder);
}

function latestOf(prefix: string, folder: string): LatestBackup | undefined {
  const latest = pastBackups(prefix, folder).at(-1);
  return latest && { ...latest, bytes: statSync(latest.file).size };
}

function isDue(latest: LatestBackup | undefined, everyMs: number): boolean {
  return latest === undefined || latest.at + everyMs <= Date.now();
}

/** Deletes files. @returns why some of them could not be deleted: a line each */
function deleteEach(files: readonly string[]): string[] {
  return files.flatMap((file) => {
    try {
      rmSync(file);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
}

/** store-orders-3f0a94e1-2026-11-22T10-00-00-000Z.db; see `storeDigest`. */
function prefixOf(path: string): string {
  return `store-orders-${storeDigest(path)}-`;
}

/**
 * Distinguishes the backups of several stores in one folder: by path, since a file can be copied, and by the identity of the store, since the
 * stores of several containers have the same path.
 * @throws StoreNotUsable
 */
export function storeDigest(path: string): string {
  const row = withOpenErrors(path, () =>
    readDatabase(readableLocation(path), (db) => db.prepare('SELECT * FROM store').get()),
  );
  // Stores of 1.0.0 have an id, which their backups do not keep.
  const identity = row?.identity ?? row?.id ?? '';
  return hash('sha256', `${realpathSync(path)}${identity}`).slice(0, 8);
}

/** The time of `timeForName`, in parts. */
const TIME = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3}Z)\.db$/;

/** Returns the complete backups of a store in a folder that were not dated by a wrong clock, and are databases, the oldest first. */
function pastBackups(prefix: string, folder: string): Omit<LatestBackup, 'bytes'>[] {
  const names = readdirSync(folder).filter((name) => name.startsWith(prefix));
  return names.sort().flatMap((name) => {
    const [, hour, minute, second, rest] = TIME.exec(name.slice(prefix.length)) ?? [];
    if (hour === undefined) return [];
    const [file, at] = [join(folder, name), Date.parse(`${hour}:${minute}:${second}.${rest}`)];
    return at <= Date.now() + CLOCK_TOLERANCE_MS && isDatabase(file) ? [{ file, at }] : [];
  });
}

/**
 * Whether a file is a database of the length that its header has: one that was cut short, or that this user may not read, must not count as a
 * backup, nor push out a good one.
 */
function isDatabase(path: string): boolean {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile() || !mayUse(path, constants.R_OK)) {
    return false;
  }
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(file, header, 0, HEADER_BYTES, 0);
    const pageSize = header.readUInt16BE(16);
    // 1 is 65,536, which the field has no room for.
    const bytes = (pageSize === 1 ? 65_536 : pageSize) * header.readUInt32BE(28);
    return header.toString('latin1', 0, MAGIC.length) === MAGIC && fstatSync(file).size === bytes;
  } finally {
    closeSync(file);
  }
}
