import { existsSync } from 'node:fs';
import { invisibleIn } from '../domain/text.ts';
import type { LatestBackup, Restored, RestoreOptions, Rotated, Rotation } from './backups.ts';
import type { Finding, MigrationSteps } from './diagnosis.ts';
import type { OpenOptions } from './open-options.ts';
import {
  filesIn,
  isPostgresUrl,
  parseAddress,
  postgresUrlProblem,
  withoutCredentials,
} from './postgres/database/address.ts';
import { newSession } from './postgres/database/connection.ts';
import { expectNoOtherTables, hasSchema } from './postgres/database/schema.ts';
import { COMMAND } from './postgres/database/session-settings.ts';
import { checkPostgres } from './postgres/maintenance/check.ts';
import {
  openPostgresSource,
  openPostgresTarget,
  whilePostgresMoved,
} from './postgres/maintenance/copy.ts';
import { diagnosePostgres } from './postgres/maintenance/diagnose.ts';
import { planPostgres } from './postgres/maintenance/plan.ts';
import { openPostgres } from './postgres/open.ts';
import {
  readableLocation,
  readDatabase,
  SQLITE,
  sqlitePath,
  sqlitePathProblem,
} from './sqlite/database/connection.ts';
import { withOpenErrors } from './sqlite/database/errors.ts';
import { MIGRATIONS, migrationsOf } from './sqlite/database/schema.ts';
import { copySqlite } from './sqlite/maintenance/backup.ts';
import { inBackupThread } from './sqlite/maintenance/backup-in-thread.ts';
import { latestBackup } from './sqlite/maintenance/backup-rotation.ts';
import { checkSqlite } from './sqlite/maintenance/check.ts';
import { openSqliteSource, openSqliteTarget, whileSqliteMoved } from './sqlite/maintenance/copy.ts';
import { diagnoseSqlite } from './sqlite/maintenance/diagnose.ts';
import { restoreSqlite } from './sqlite/maintenance/restore.ts';
import { openSqlite } from './sqlite/open.ts';
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
  /** Checks every row of the store, of this release or an earlier one, in one snapshot; see StoreCheck. Writes nothing. */
  check(options?: StoreCheck): Promise<Findings>;
  /** Checks the database, even without a store: permissions, disk or server, and the duration of a commit. */
  diagnose(): Promise<Finding[]>;
  /** Returns what a migration would do. Writes nothing. */
  planMigrations(): Promise<MigrationSteps>;

  /** Opens a snapshot of the store, for copying from it. */
  openSource(): Promise<Source>;
  /** Opens an empty database, or one with an interrupted copy, for copying into it; refuses another copy that is running. */
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

function postgresDatabase(url: string): Database {
  return {
    engine: 'postgresql',
    url,
    label: parseAddress(url).label,
    identity: withoutCredentials(url),
    file: undefined,
    certificates: () => filesIn(url),
    exists: async () => {
      using session = await newSession(url, COMMAND);
      const isThere = await hasSchema(session);
      if (!isThere) await expectNoOtherTables(session);
      return isThere;
    },
    open: (options) => openPostgres(url, options),
    check: (options) => checkPostgres(url, options),
    diagnose: () => diagnosePostgres(url),
    planMigrations: () => planPostgres(url),
    openSource: () => openPostgresSource(url),
    openTarget: () => openPostgresTarget(url),
    whileMoved: (label, complete) => whilePostgresMoved(url, label, complete),
  };
}

function sqliteDatabase(url: string): Database {
  const path = sqlitePath(url);
  return {
    engine: 'sqlite',
    url,
    label: `${SQLITE}${path}`,
    identity: url,
    file: {
      path,
      copyTo: (target) => copySqlite(path, target),
      rotateBackups: (rotation) => inBackupThread({ job: 'rotation', path, rotation }),
      latestBackup: (folder) => latestBackup(path, folder),
      restore: (file, options) => restoreSqlite(file, path, options),
    },
    certificates: () => [],
    exists: async () => existsSync(path),
    open: (options) => openSqlite(path, options),
    check: (options) => checkSqlite(path, options),
    diagnose: () => diagnoseSqlite(path),
    planMigrations: async () => planSqlite(path),
    openSource: () => openSqliteSource(path),
    openTarget: () => openSqliteTarget(path),
    whileMoved: (label, complete) => whileSqliteMoved(path, label, complete),
  };
}

function planSqlite(path: string): MigrationSteps {
  const has = existsSync(path)
    ? withOpenErrors(path, () => readDatabase(readableLocation(path), migrationsOf))
    : 0;
  const effects = [
    'holds the write lock until all migrations are done: changes wait or get 503, reads continue; takes up to half a minute per million orders',
  ];
  return { steps: MIGRATIONS.slice(has).map((name) => ({ name, effects })), heldBy: [] };
}
