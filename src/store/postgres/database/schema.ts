import { setTimeout as pause } from 'node:timers/promises';
import { asset, assetsIn } from '../../../assets.ts';
import { expectedSchema, olderSchema } from '../../expected-schema.ts';
import { StoreNotUsable, StoreUnavailable } from '../../store.ts';
import { textArray } from './arrays.ts';
import { watchBlockers } from './blockers.ts';
import { collationProblem } from './catalog.ts';
import { INSUFFICIENT_PRIVILEGE, sqlState } from './errors.ts';
import { type MigrationPlan, planMigration } from './migration-plan.ts';
import type { Session } from './session.ts';

/** "STOR": the advisory lock that serializes the migrations of several nodes. */
const MIGRATION_LOCK = 0x53544f52;
/** Limit for waiting for another node's migration, which computes the heads of some 30,000 events a second. */
const MIGRATION_WAIT_MS = 600_000;
const LOCK_RETRY_MS = 200;
/** Timeout for each lock of a migration: requests queue behind it, and must be answered within 2 s. */
const LOCK_WAIT_MS = 1_000;
/** Pauses between two attempts, in which waiting requests are served, and the time limit of all attempts. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
const MIGRATION_LIMIT_MS = 600_000;

const FOLDER = 'src/store/migrations';
const MIGRATIONS = assetsIn(FOLDER).filter((name) => name.endsWith('.postgres.sql'));

export const KNOWN_MIGRATIONS = MIGRATIONS.length;

/** Returns whether the database contains the tables of a store. */
export function hasSchema(session: Session): Promise<boolean> {
  return hasTable(session, 'store_orders_migrations');
}

/** @throws StoreNotUsable if the schema in which a new store would be made has tables with its names, unless another process has made the store by now */
export async function expectNoOtherTables(session: Session): Promise<void> {
  const own = expectedSchema('postgresql').flatMap((line) => /^table (\w+)$/.exec(line)?.[1] ?? []);
  const [[schema, tables] = []] = await session.query(NAMED_ALIKE, [textArray(own)]);
  if (tables == null || (await hasSchema(session))) return;
  throw new StoreNotUsable(
    `the schema ${schema} has tables of another program (${tables}): use another database, or a schema of its own (options=-c%20search_path%3D… in the URL)`,
  );
}

const NAMED_ALIKE = `SELECT current_schema(), string_agg(relname, ', ' ORDER BY relname) FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relname = ANY ($1::text[])`;

async function hasTable(session: Session, name: string): Promise<boolean> {
  const [row] = await session.query('SELECT to_regclass($1) IS NOT NULL', [name]);
  return row![0] === 1n;
}

/** Names the schemas of the database that have a store, besides the one in use: a setting of the role that a dump does not contain names another. */
export async function otherSchemas(session: Session): Promise<string | undefined> {
  const [[own, others] = []] = await session.query(OTHERS);
  if (others === null) return undefined;
  return `a new store was made in the schema ${own}; the database has one in ${others}, too, which search_path does not find first`;
}

const OTHERS = `SELECT current_schema(), string_agg(relnamespace::regnamespace::text, ', ') FROM pg_class
  WHERE relname = 'store_orders_migrations' AND relnamespace <> current_schema()::regnamespace`;

/** Permissions and callbacks of `migrate`. */
interface MigrateOptions {
  /** Whether missing tables may be created, and existing ones updated. */
  readonly create: boolean;
  readonly update: boolean;
  /** Opens another session, to find out what a migration waits for. */
  readonly observe?: () => Promise<Session>;
  /** Called with the reason why a migration waits. */
  readonly onWaiting?: (reason: string) => void;
}

/**
 * Migrates the schema to this release's version, exactly once even if several nodes start at the same time. Nodes of the previous release keep
 * working: indexes are built concurrently, and a migration that does not get its locks within LOCK_WAIT_MS rolls back and retries later, since
 * every request queues behind it.
 * @returns the number of migrations before and after; undefined if there were none to run, or another process has run them
 * @throws StoreNotUsable if the store is missing or older and may not be changed, if it was made by a newer release, if its indexes may be in
 * the order of a former collation, or if the role lacks permission; StoreUnavailable if locks could not be acquired
 */
export async function migrate(session: Session, options: MigrateOptions) {
  const { create, update } = options;
  const isThere = await hasSchema(session);
  if (!create && !isThere) throw new StoreNotUsable('it contains no store');
  if (!isThere) await expectNoOtherTables(session);
  const to = MIGRATIONS.length;
  const pending = await missingMigrations(session);
  const from = to - pending.length;
  if (from === to) return undefined;
  if (isThere && !update) throw new StoreNotUsable(olderSchema(from, to));
  const collation = isThere ? await collationProblem(session, pending) : undefined;
  if (collation !== undefined) throw new StoreNotUsable(`${collation.found}: ${collation.advice}`);
  return withMigrationLock(session, options, async () => {
    // Read again: another node may have migrated while this one waited.
    const missing = await missingMigrations(session);
    if (missing.length === 0) return undefined;
    // In one transaction, so that no process sees a part of a new store.
    if (!(await hasSchema(session))) await inOneTransaction(session, missing.map(textOf));
    else for (const name of missing) await runMigration(session, name, options);
    return { from: to - missing.length, to };
  });
}

/**
 * Runs `work`, whose statements have no time limit, under the migration lock. Polls the lock: a statement that waits in the server has a
 * snapshot, and CREATE INDEX CONCURRENTLY waits for the end of every snapshot.
 * @throws StoreUnavailable if another process holds the lock for MIGRATION_WAIT_MS
 */
async function withMigrationLock<T>(
  session: Session,
  { onWaiting }: Pick<MigrateOptions, 'onWaiting'>,
  work: () => Promise<T>,
): Promise<T> {
  await session.query(`SELECT set_config('statement_timeout', '0', false)`);
  const take = `SELECT pg_try_advisory_lock(${MIGRATION_LOCK})`;
  const until = performance.now() + MIGRATION_WAIT_MS;
  for (let isFirst = true; (await session.query(take))[0]![0] !== 1n; isFirst = false) {
    const reason = 'another process is migrating the schema';
    if (performance.now() > until) throw new StoreUnavailable(reason, 'locked');
    if (isFirst) onWaiting?.(reason);
    await pause(LOCK_RETRY_MS);
  }
  const result = await work();
  await session.query(`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`);
  return result;
}

async function runMigration(session: Session, name: string, options: MigrateOptions) {
  const plan = await planOf(session, name);
  const [pid] = (await session.query('SELECT pg_backend_pid()'))[0]!;
  const onBlocked = (blockers: readonly string[]) =>
    options.onWaiting?.(`the migration ${name} waits for ${blockers.join('; ')}`);
  const mayWait = plan.indexes.length + plan.locks.length > 0;
  // If no further connection is available, the migration runs without reporting blockers.
  const observer = mayWait && (await options.observe?.().catch(() => undefined));
  using _watching = observer ? watchBlockers(observer, pid as bigint, onBlocked) : undefined;
  for (const index of plan.indexes) {
    await buildIndex(session, index).catch((error) => {
      throw withAdvice(error, name);
    });
  }
  await inOneTransaction(session, [{ name, sql: plan.transaction }]);
}

/** Builds an index without locking out writers. An index whose creation was interrupted is invalid, and is built again. */
async function buildIndex(session: Session, { name, sql }: MigrationPlan['indexes'][number]) {
  const text = 'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)';
  const [index] = await session.query(text, [name]);
  if (index?.[0] === 1n) return;
  // No timeout: this waits only for earlier transactions, and no other session queues behind it.
  await session.query(`SELECT set_config('lock_timeout', '0', false)`);
  if (index !== undefined) await session.run(`DROP INDEX CONCURRENTLY ${name}`);
  await session.run(sql);
}

function textOf(name: string) {
  return { name, sql: asset(`${FOLDER}/${name}`) };
}

/** Runs migrations in one transaction, and retries until they get all of their locks in time. */
async function inOneTransaction(
  session: Session,
  migrations: readonly { readonly name: string; readonly sql: string }[],
): Promise<void> {
  const until = performance.now() + MIGRATION_LIMIT_MS;
  await session.query(`SELECT set_config('lock_timeout', '${LOCK_WAIT_MS}', false)`);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      await session.run('BEGIN');
      for (const { name, sql } of migrations) {
        try {
          await session.run(VERSIONS);
          await session.run(sql);
          await session.write('INSERT INTO store_orders_migrations VALUES ($1)', [name]);
        } catch (error) {
          throw withAdvice(error, name);
        }
      }
      await session.commit();
      return;
    } catch (error) {
      if (!IS_LOCKED.includes(sqlState(error) ?? '') || performance.now() > until) throw error;
      await session.run('ROLLBACK');
    }
    await pause(pauseMs);
  }
}

/** A lock was not granted in time, or would have led to a deadlock. */
const IS_LOCKED: readonly string[] = ['55P03', '40P01'];
const UNIQUE_VIOLATION = '23505';
/** What a migration drops has a view, or another object that PostgreSQL does not drop with it. */
const DEPENDENT_OBJECTS = '2BP01';

/** Returns the error of a migration, with advice if the role lacks a right, rows are there twice, or a view depends on what it drops. */
function withAdvice(error: unknown, name: string): unknown {
  const { detail } = ((error as Error).cause ?? {}) as { detail?: string };
  const advice = {
    [UNIQUE_VIOLATION]: `the migration ${name} has found rows that should be there once: ${detail}; see "Collations" in docs/postgresql.md`,
    [DEPENDENT_OBJECTS]: `the migration ${name} cannot run: ${detail}; drop what depends on the tables of the store, and create it again afterwards`,
    [INSUFFICIENT_PRIVILEGE]: `it needs the migration ${name}, for which this role lacks permission (${(error as Error).message}); run "store-orders migrate" with a role that has it`,
  }[sqlState(error) ?? ''];
  return advice === undefined ? error : new StoreNotUsable(advice);
}

/** Reads what a migration that has not run would do. */
export async function planOf(session: Session, name: string): Promise<MigrationPlan> {
  const rows = await session.query(`SELECT relname FROM pg_class WHERE relkind = 'r'
      AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('store'))`);
  const tables = new Set(rows.map(([table]) => table as string));
  return planMigration(textOf(name).sql, (table) => tables.has(table));
}

const VERSIONS = `CREATE TABLE IF NOT EXISTS store_orders_migrations (
  name       text        PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

/**
 * Returns the file names of the migrations that have not run.
 * @throws StoreNotUsable if the schema is newer than this release
 */
export async function missingMigrations(session: Session): Promise<string[]> {
  if (!(await hasSchema(session))) return MIGRATIONS;
  const rows = await session.query('SELECT name FROM store_orders_migrations');
  const applied = new Set(rows.map(([name]) => name as string));
  const unknown = [...applied].filter((name) => !MIGRATIONS.includes(name));
  if (unknown.length > 0) {
    throw new StoreNotUsable(
      `its schema is newer than this release: unknown migrations ${unknown.join(', ')}; ` +
        'use the newer release that created it',
    );
  }
  // The first migration is recorded in the transaction that makes the tables.
  if (applied.size === 0 && (await hasTable(session, 'store'))) {
    throw new StoreNotUsable(
      'its table store_orders_migrations is empty, as after a dump that was restored in part; restore it as a whole',
    );
  }
  return MIGRATIONS.filter((name) => !applied.has(name));
}
