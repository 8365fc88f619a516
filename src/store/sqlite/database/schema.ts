import type { DatabaseSync } from 'node:sqlite';
import { asset, assetsIn } from '../../../assets.ts';
import { olderSchema } from '../../expected-schema.ts';
import { StoreNotUsable } from '../../store.ts';
import { TABLES } from '../../tables/copied.ts';
import { retryWhileBusy } from './connection.ts';

/** "STOR": identifies files of this program, https://sqlite.org/pragma.html#pragma_application_id */
const APPLICATION_ID = 0x53544f52n;

const FOLDER = 'src/store/migrations';
export const MIGRATIONS = assetsIn(FOLDER).filter((name) => name.endsWith('.sqlite.sql'));

/**
 * Migrates the schema to this release's version. `user_version` is the number of migrations that have run. A database
 * that is up to date is not locked, so it can be opened during writes.
 * @param mayUpdate whether an existing schema may be changed
 * @returns the number of migrations before and after; undefined if there were none to run
 * @throws StoreNotUsable if the file belongs to another program or a newer release, or is older and may not be updated
 */
export function migrate(db: DatabaseSync, lockWaitMs: number, mayUpdate: boolean) {
  const before = migrationsOf(db);
  const to = MIGRATIONS.length;
  if (before === to) return undefined;
  if (before > 0 && !mayUpdate) throw new StoreNotUsable(olderSchema(before, to));
  retryWhileBusy(lockWaitMs, () => db.exec('BEGIN IMMEDIATE'));
  try {
    // Read again: another process may have migrated while this one waited.
    const from = migrationsOf(db);
    runMigrations(db, from, to);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${to}; COMMIT`);
    return from === to ? undefined : { from, to };
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Runs the migrations after the first `from`, up to the number `to`. */
export function runMigrations(db: DatabaseSync, from: number, to: number): void {
  for (const name of MIGRATIONS.slice(from, to)) db.exec(asset(`${FOLDER}/${name}`));
}

/**
 * Checks that the database has this release's schema.
 * @throws StoreNotUsable if the file belongs to another program, or its schema is older or newer
 */
export function expectSchema(db: DatabaseSync): void {
  const has = migrationsOf(db);
  if (has === 0) throw new StoreNotUsable('it contains no store');
  if (has < MIGRATIONS.length) throw new StoreNotUsable(olderSchema(has, MIGRATIONS.length));
}

/**
 * Returns the number of migrations that have run; 0 for an empty file.
 * @throws StoreNotUsable if the file belongs to another program or a newer release
 */
export function migrationsOf(db: DatabaseSync): number {
  const version = pragma(db, 'user_version');
  const tables = db.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.count;
  const isOurs = pragma(db, 'application_id') === APPLICATION_ID;
  const [replaced] = db.prepare(REPLACED).all();
  if (replaced !== undefined) throw new StoreNotUsable(`its table "${replaced.name}" is none`);
  if (!isOurs && (tables !== 0n || version !== 0n)) {
    throw new StoreNotUsable(
      'it belongs to another program, or was made from the text of a dump, which leaves out what marks a store: restore a backup',
    );
  }
  if (version > BigInt(MIGRATIONS.length)) {
    throw new StoreNotUsable(
      `its schema has version ${version}, but this release supports only versions up to ` +
        `${MIGRATIONS.length}; use the newer release that created it`,
    );
  }
  return Number(version);
}

/** A view in the place of a table can have no end. */
const OWN = [...TABLES.map(({ name }) => name), 'store', 'webhook_lease', 'restored'];
const REPLACED = `SELECT name FROM sqlite_schema WHERE (type <> 'table' OR sql NOT LIKE 'CREATE TABLE %')
  AND name IN (${OWN.map((name) => `'${name}'`).join()})`;

function pragma(db: DatabaseSync, name: string): bigint {
  return db.prepare(`PRAGMA ${name}`).get()?.[name] as bigint;
}
