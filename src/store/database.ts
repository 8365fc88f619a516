import { invisibleIn } from '../domain/text.ts';
import type { LatestBackup, Restored, RestoreOptions, Rotated, Rotation } from './backups.ts';
import type { Finding, MigrationSteps } from './diagnosis.ts';
import type { OpenOptions } from './open-options.ts';
import { isPostgresUrl, postgresUrlProblem } from './postgres/database/address.ts';
import { postgresDatabase } from './postgres/postgres-database.ts';
import { SQLITE, sqlitePathProblem } from './sqlite/database/connection.ts';
import { sqliteDatabase } from './sqlite/sqlite-database.ts';
import { type Engine, type Store, StoreNotUsable } from './store.ts';
import type { Findings, StoreCheck } from './tables/consistency.ts';
import type { MovedIds, Source, Target } from './tables/copied.ts';

/** A database that can hold a store. Its methods throw StoreNotUsable or StoreUnavailable, with a message for the operator. */
export interface Database {
  readonly engine: Engine['name'];
  readonly url: string;
  /** Name for messages: without password, and independent of the working directory. */
  readonly label: string;
  /** The URL without user and password: two URLs with the same one name the same database. */
  readonly identity: string;
  /** The file of an SQLite database; undefined on PostgreSQL. */
  readonly file: DatabaseFile | undefined;
  /** Returns the files of certificates and keys that the URL names. */
  certificates(): readonly string[];

  /** Returns whether the database file, or the PostgreSQL schema, exists. */
  exists(): Promise<boolean>;
  open(options: OpenOptions): Promise<Store>;
  /** Checks the whole store, of this release or an earlier one, in one snapshot. */
  check(options?: StoreCheck): Promise<Findings>;
  /** Checks the database, even without a store: permissions, disk or server, and the duration of a commit. */
  diagnose(): Promise<Finding[]>;
  /** Returns what a migration would do. Writes nothing. */
  planMigrations(): Promise<MigrationSteps>;

  /** Opens a snapshot of the store, for copying from it. */
  openSource(): Promise<Source>;
  /** Opens an empty database, or one with an interrupted copy, for copying into it. */
  openTarget(): Promise<Target>;
  /**
   * Runs `complete` with the ids of the store, while it is marked as moved to `label`, under a lock that excludes all writers.
   * @throws StoreNotUsable if it is not marked so
   */
  whileMoved(label: string, complete: (ids: MovedIds) => Promise<void>): Promise<void>;
}

/** The file of an SQLite database, with its backups. */
export interface DatabaseFile {
  readonly path: string;
  /** Copies the store to a new file; it may be in use. */
  copyTo(target: string): void;
  /** Makes a backup if one is due, in a thread of its own, so that requests are served. */
  rotateBackups(rotation: Rotation): Promise<Rotated>;
  /** Returns the latest backup in a folder that was made at intervals. @throws errors of the file system */
  latestBackup(folder: string): LatestBackup | undefined;
  /** Replaces the file, which must not be in use, by the backup in `file`. */
  restore(file: string, options: RestoreOptions): Promise<Restored>;
}

/** Returns the database at a URL; nothing is opened. @throws StoreNotUsable if the URL is malformed */
export function databaseAt(url: string): Database {
  const problem = databaseUrlProblem(url);
  if (problem !== undefined) throw new StoreNotUsable(`the database URL ${problem}`);
  return isPostgresUrl(url) ? postgresDatabase(url) : sqliteDatabase(url);
}

/** Returns the problem with a database URL, or undefined. */
export function databaseUrlProblem(url: string): string | undefined {
  const invisible = invisibleIn(url);
  if (invisible !== undefined) return `must not contain ${invisible}`;
  if (isPostgresUrl(url)) return postgresUrlProblem(url);
  if (!url.startsWith(SQLITE)) {
    return 'must be sqlite:PATH, such as sqlite:data/store-orders.db, or a postgres:// URL';
  }
  return sqlitePathProblem(url);
}

/** Returns whether a URL, valid or not, contains a password. */
export function hasPassword(url: string): boolean {
  return isPostgresUrl(url) && /^[^/]*\/\/[^/?#]*:[^/?#]*@|[?&]password=/.test(url);
}
