import { readdirSync, readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StoreNotUsable, StoreUnavailable } from '../store.ts';
import { olderSchema } from '../tables.ts';
import { retryWhileBusy } from './connection.ts';

/** "STOR": marks a file as ours, https://sqlite.org/pragma.html#pragma_application_id */
const APPLICATION_ID = 0x53544f52n;

/** At a start nobody waits for an answer yet, but another process may be migrating: some seconds for millions of orders. */
export const MIGRATION_WAIT_MS = 60_000;

const FOLDER = new URL('../migrations/', import.meta.url);
const MIGRATIONS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sqlite.sql'))
  .sort();

export const KNOWN_MIGRATIONS = MIGRATIONS.length;

/** The numbers of migrations that had run before, and have now. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/**
 * Refuses to go on with a database that another release has migrated since it was opened.
 * @param version its `user_version` now
 * @throws StoreUnavailable
 */
export function expectVersion(version: unknown): void {
  if (version === BigInt(MIGRATIONS.length)) return;
  throw new StoreUnavailable(
    `another release has migrated the schema (${version} migrations; this release knows ${MIGRATIONS.length}); ` +
      'run that release',
    'schema',
  );
}

/**
 * Brings the database to this program's version. `user_version` is the number of migrations that
 * have run. A database that is up to date is not locked, so it can be opened while others write.
 * @param mayUpdate whether tables that are there already may be changed
 * @returns what it did; undefined if nothing
 * @throws StoreNotUsable when the file is another program's or a newer version's, or older and may not be updated
 */
export function migrate(
  db: DatabaseSync,
  lockWaitMs: number,
  mayUpdate: boolean,
): Migrated | undefined {
  const from = MIGRATIONS.length - missingMigrations(db).length;
  const to = MIGRATIONS.length;
  if (from === to) return undefined;
  if (from > 0 && !mayUpdate) throw new StoreNotUsable(olderSchema(from, to));
  retryWhileBusy(lockWaitMs, () => db.exec('BEGIN IMMEDIATE'));
  try {
    // Another process may have migrated it while this one waited.
    for (const name of missingMigrations(db)) {
      db.exec(readFileSync(new URL(name, FOLDER), 'utf8'));
    }
    db.exec(
      `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`,
    );
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
  return { from, to };
}

/** @throws StoreNotUsable when the file is not ours, or of another version than this program's */
export function expectSchema(db: DatabaseSync): void {
  const missing = missingMigrations(db).length;
  if (missing === MIGRATIONS.length) throw new StoreNotUsable('it contains no store');
  if (missing > 0) {
    throw new StoreNotUsable(olderSchema(MIGRATIONS.length - missing, MIGRATIONS.length));
  }
}

/** The migrations that have not run yet; `db` gives rows as objects. @throws StoreNotUsable when the file is not ours */
export function missingMigrations(db: DatabaseSync): string[] {
  const version = pragma(db, 'user_version');
  const tables = db.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.count;
  const isOurs = pragma(db, 'application_id') === APPLICATION_ID;
  if (!isOurs && (tables !== 0n || version !== 0n)) {
    throw new StoreNotUsable('it is a database of another program');
  }
  if (version > BigInt(MIGRATIONS.length)) {
    throw new StoreNotUsable(
      `its schema has version ${version}, but this release knows versions up to ` +
        `${MIGRATIONS.length} only; use the newer release that made it`,
    );
  }
  return MIGRATIONS.slice(Number(version));
}

function pragma(db: DatabaseSync, name: string): bigint {
  return db.prepare(`PRAGMA ${name}`).get()?.[name] as bigint;
}
