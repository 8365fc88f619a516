import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Findings } from './consistency.ts';
import type { Finding } from './diagnosis.ts';
import type { MigrationSteps } from './migration-steps.ts';
import type { OpenOptions } from './open-options.ts';
import {
  filesIn,
  isPostgresUrl,
  parseAddress,
  postgresUrlProblem,
  withoutCredentials,
} from './postgres/address.ts';
import { checkPostgres } from './postgres/check.ts';
import { diagnosePostgres } from './postgres/diagnose.ts';
import { openPostgres, postgresStoreExists } from './postgres/open.ts';
import { planPostgres } from './postgres/plan.ts';
import { checkSqlite } from './sqlite/check.ts';
import { diagnoseSqlite } from './sqlite/diagnose.ts';
import { openSqlite } from './sqlite/open.ts';
import { SQLITE, sqlitePath } from './sqlite/path.ts';
import { planSqlite } from './sqlite/plan.ts';
import { type Store, StoreNotUsable } from './store.ts';

/** Returns the problem with a database URL, or undefined. */
export function databaseUrlProblem(url: string): string | undefined {
  if (isPostgresUrl(url)) return postgresUrlProblem(url);
  if (!url.startsWith(SQLITE)) {
    return 'must be sqlite:PATH, such as sqlite:data/store-orders.db, or a postgres:// URL';
  }
  const path = sqlitePath(url);
  // SQLite does not treat ":memory:" and "file:…" as plain paths.
  if (path === '' || /^(?::|file:)/i.test(path) || path.endsWith('/')) {
    return 'must name a database file, such as sqlite:data/store-orders.db';
  }
  if (/[?#\0]/.test(path)) return 'must be a plain path, without parameters';
  return undefined;
}

/**
 * Opens the store at `url`.
 * @throws StoreNotUsable if the database cannot be used; the message says why
 */
export function openStore(url: string, options: OpenOptions): Promise<Store> {
  const problem = databaseUrlProblem(url);
  if (problem !== undefined) throw new StoreNotUsable(`the database URL ${problem}`);
  if (isPostgresUrl(url)) return openPostgres(url, options);
  return openSqlite(sqlitePath(url), options);
}

/** Returns the name of a database for messages: without password, and independent of the working directory. */
export function databaseLabel(url: string): string {
  return isPostgresUrl(url) ? parseAddress(url).label : `${SQLITE}${resolve(sqlitePath(url))}`;
}

/** Returns whether two URLs differ at most in user and password. */
export function isSameDatabase(one: string, other: string): boolean {
  const [first, second] = [one, other].map((url) =>
    isPostgresUrl(url) ? withoutCredentials(url) : url,
  );
  return first === second;
}

/** Returns the files of certificates and keys that a URL names. */
export function filesOfUrl(url: string): string[] {
  return isPostgresUrl(url) ? filesIn(url) : [];
}

/** Returns whether a URL, valid or not, contains a password. */
export function hasPassword(url: string): boolean {
  return isPostgresUrl(url) && /^[^/]*\/\/[^/?#]*:[^/?#]*@|[?&]password=/.test(url);
}

/** Returns whether a database file, or a PostgreSQL schema, exists at `url`. */
export async function storeExists(url: string): Promise<boolean> {
  return isPostgresUrl(url) ? postgresStoreExists(url) : existsSync(sqlitePath(url));
}

/**
 * Checks the whole store at `url`, of this release or an earlier one.
 * @throws StoreNotUsable
 */
export async function checkStore(url: string): Promise<Findings> {
  return isPostgresUrl(url) ? checkPostgres(url) : checkSqlite(sqlitePath(url));
}

/**
 * Returns what migrating the database at `url` would do. Writes nothing.
 * @throws StoreNotUsable, StoreUnavailable
 */
export async function planMigrations(url: string): Promise<MigrationSteps> {
  return isPostgresUrl(url) ? planPostgres(url) : planSqlite(sqlitePath(url));
}

/** Looks at the database at `url`, whether there is a store or not: rights, disk or server, and what it costs. */
export function diagnoseDatabase(url: string): Promise<Finding[]> {
  return isPostgresUrl(url) ? diagnosePostgres(url) : diagnoseSqlite(sqlitePath(url));
}
