import { readdirSync, readFileSync } from 'node:fs';
import { StoreNotUsable } from '../store.ts';
import { olderSchema } from '../tables.ts';
import { INSUFFICIENT_PRIVILEGE, sqlState } from './errors.ts';
import type { Session } from './session.ts';

/** "STOR": the advisory lock that serializes the migrations of several nodes. */
const MIGRATION_LOCK = 0x53544f52;
/** Limit for waiting for another node's migration, and for locks on the tables. */
const MIGRATION_WAIT_MS = 60_000;

const FOLDER = new URL('../migrations/', import.meta.url);
const MIGRATIONS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.postgres.sql'))
  .sort();

export const KNOWN_MIGRATIONS = MIGRATIONS.length;

/** Returns whether the database contains the tables of a store. */
export async function hasSchema(session: Session): Promise<boolean> {
  const [row] = await session.query({
    text: `SELECT to_regclass('store_orders_migrations') IS NOT NULL`,
  });
  return row![0] === 't';
}

/**
 * Returns the number of migrations that have run, and that this release knows.
 * @throws StoreNotUsable if there is no store, or a newer one
 */
export async function expectSchema(session: Session): Promise<{ has: number; knows: number }> {
  if (!(await hasSchema(session))) throw new StoreNotUsable('it contains no store');
  const knows = MIGRATIONS.length;
  return { has: knows - (await missingMigrations(session)).length, knows };
}

/** Whether `migrate` may create missing tables, and update existing ones. */
export interface MigrateOptions {
  readonly create: boolean;
  readonly update: boolean;
}

/**
 * Migrates the schema to this release's version, exactly once even if several nodes start at the same time.
 * @returns the number of migrations before and after; undefined if there were none to run
 * @throws StoreNotUsable if the store is missing or older and may not be changed, if it was made by a newer release,
 *   or if the role lacks permission
 */
export async function migrate(
  session: Session,
  { create, update }: MigrateOptions,
): Promise<{ from: number; to: number } | undefined> {
  const isThere = await hasSchema(session);
  if (!create && !isThere) throw new StoreNotUsable('it contains no store');
  const to = MIGRATIONS.length;
  const from = to - (await missingMigrations(session)).length;
  if (from === to) return undefined;
  if (isThere && !update) throw new StoreNotUsable(olderSchema(from, to));
  await session.query({
    text: `SELECT set_config('lock_timeout', '${MIGRATION_WAIT_MS}', false),
      set_config('statement_timeout', '0', false)`,
  });
  // Taken before the transaction begins: otherwise the transaction might not see tables created while it waited.
  await session.query({ text: `SELECT pg_advisory_lock(${MIGRATION_LOCK})` });
  await session.query({ text: 'BEGIN' });
  // Read again: another node may have migrated while this one waited.
  for (const name of await missingMigrations(session)) await run(session, name);
  await session.write({ text: 'COMMIT' });
  await session.query({ text: `SELECT pg_advisory_unlock(${MIGRATION_LOCK})` });
  return { from, to };
}

async function run(session: Session, name: string): Promise<void> {
  try {
    await session.query({ text: VERSIONS });
    await session.query({ text: readFileSync(new URL(name, FOLDER), 'utf8') });
    await session.query({ text: 'INSERT INTO store_orders_migrations VALUES ($1)' }, [name]);
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new StoreNotUsable(
      `it needs the migration ${name}, which this role may not make (${(error as Error).message}); ` +
        'run "store-orders migrate" with one that may',
    );
  }
}

const VERSIONS = `CREATE TABLE IF NOT EXISTS store_orders_migrations (
  name       text        PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

/**
 * Returns the file names of the migrations that have not run.
 * @throws StoreNotUsable if the schema is newer than this release
 */
async function missingMigrations(session: Session): Promise<string[]> {
  if (!(await hasSchema(session))) return MIGRATIONS;
  const rows = await session.query({ text: 'SELECT name FROM store_orders_migrations' });
  const applied = new Set(rows.map(([name]) => name!));
  const unknown = [...applied].filter((name) => !MIGRATIONS.includes(name));
  if (unknown.length > 0) {
    throw new StoreNotUsable(
      `its schema is newer than this release, which does not know ${unknown.join(', ')}; ` +
        'use the newer release that made it',
    );
  }
  return MIGRATIONS.filter((name) => !applied.has(name));
}
