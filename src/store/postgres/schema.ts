import { readdirSync, readFileSync } from 'node:fs';
import { StoreNotUsable } from '../store.ts';
import { olderSchema } from '../tables.ts';
import { INSUFFICIENT_PRIVILEGE, sqlState } from './errors.ts';
import type { Session } from './session.ts';

/** "STOR": the advisory lock that nodes take to migrate one after another. */
const MIGRATION_LOCK = 0x53544f52;
/** How long a node waits for another one that migrates, and a migration for the tables. */
const MIGRATION_WAIT_MS = 60_000;

const FOLDER = new URL('../migrations/', import.meta.url);
const MIGRATIONS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.postgres.sql'))
  .sort();

export const KNOWN_MIGRATIONS = MIGRATIONS.length;

/** Whether our tables are in the database. */
export async function hasSchema(session: Session): Promise<boolean> {
  const [row] = await session.query({
    text: `SELECT to_regclass('store_orders_migrations') IS NOT NULL`,
  });
  return row![0] === 't';
}

/** The migrations that have run, and that this release knows. @throws StoreNotUsable where there is no store, or a newer one */
export async function expectSchema(session: Session): Promise<{ has: number; knows: number }> {
  if (!(await hasSchema(session))) throw new StoreNotUsable('it contains no store');
  const knows = MIGRATIONS.length;
  return { has: knows - (await missingMigrations(session)).length, knows };
}

/** What may be done to the tables: made where there are none, changed where they are older. */
export interface MigrateOptions {
  readonly create: boolean;
  readonly update: boolean;
}

/**
 * Brings the database to this program's version, once, however many nodes begin at the same moment.
 * @returns the numbers of migrations that had run before, and have now; undefined if nothing was to do
 * @throws StoreNotUsable when there is no store, or an older one, and that may not be changed, when a newer
 * release made it, or when the role may not change it
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
  // Before the transaction: only one that begins later is sure to know of tables made meanwhile.
  await session.query({ text: `SELECT pg_advisory_lock(${MIGRATION_LOCK})` });
  await session.query({ text: 'BEGIN' });
  // Another node may have migrated it while this one waited.
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

/** The migrations that have not run yet, by their file names. */
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
