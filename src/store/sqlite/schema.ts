import { readdirSync, readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StoreNotUsable } from '../store.ts';
import { retryWhileBusy } from './connection.ts';

/** "STOR": marks a file as ours, https://sqlite.org/pragma.html#pragma_application_id */
const APPLICATION_ID = 0x53544f52n;

/** At a start nobody waits for an answer yet, but another process may be migrating: some seconds for millions of orders. */
export const MIGRATION_WAIT_MS = 60_000;

const FOLDER = new URL('../migrations/', import.meta.url);
const MIGRATIONS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sqlite.sql'))
  .sort();

/**
 * Brings the database to this program's version. `user_version` is the number of migrations that
 * have run. A database that is up to date is not locked, so it can be opened while others write.
 * @throws StoreNotUsable when the file is another program's or a newer version's.
 */
export function migrate(db: DatabaseSync, lockWaitMs: number): void {
  if (missingMigrations(db).length === 0) return;
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
}

/** The migrations that have not run yet. @throws StoreNotUsable when the file is not ours */
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
