import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Findings } from './consistency.ts';
import {
  isPostgresUrl,
  parseAddress,
  postgresUrlProblem,
  withoutCredentials,
} from './postgres/address.ts';
import { checkPostgres } from './postgres/check.ts';
import { openPostgres, postgresStoreExists } from './postgres/open.ts';
import { checkSqlite } from './sqlite/check.ts';
import { openSqlite } from './sqlite/open.ts';
import { SQLITE, sqlitePath } from './sqlite/path.ts';
import { type OpenOptions, type Store, StoreNotUsable } from './store.ts';

/** What is wrong with a database URL, or undefined. */
export function databaseUrlProblem(url: string): string | undefined {
  if (isPostgresUrl(url)) return postgresUrlProblem(url);
  if (!url.startsWith(SQLITE)) {
    return 'must be sqlite:PATH, such as sqlite:data/store-orders.db, or a postgres:// URL';
  }
  const path = sqlitePath(url);
  // SQLite takes ":memory:" and "file:…" for something else than a path.
  if (path === '' || /^(?::|file:)/i.test(path) || path.endsWith('/')) {
    return 'must name a database file, such as sqlite:data/store-orders.db';
  }
  if (/[?#\0]/.test(path)) return 'must be a plain path, without parameters';
  return undefined;
}

/** @throws StoreNotUsable when the database cannot be used; the message says why. */
export function openStore(url: string, options: OpenOptions): Promise<Store> {
  const problem = databaseUrlProblem(url);
  if (problem !== undefined) throw new StoreNotUsable(`the database URL ${problem}`);
  if (isPostgresUrl(url)) return openPostgres(url, options);
  return openSqlite(sqlitePath(url), options);
}

/** The database for people: without its password, and wherever the program was started. */
export function databaseLabel(url: string): string {
  return isPostgresUrl(url) ? parseAddress(url).label : `${SQLITE}${resolve(sqlitePath(url))}`;
}

/** Whether two URLs differ in user and password at most. */
export function isSameDatabase(one: string, other: string): boolean {
  const [first, second] = [one, other].map((url) =>
    isPostgresUrl(url) ? withoutCredentials(url) : url,
  );
  return first === second;
}

/** Whether a URL, which may be wrong, has a password in it. */
export function hasPassword(url: string): boolean {
  return isPostgresUrl(url) && /^[^/]*\/\/[^/?#]*:[^/?#]*@|[?&]password=/.test(url);
}

/** Whether there is something at `url` already. */
export async function storeExists(url: string): Promise<boolean> {
  return isPostgresUrl(url) ? postgresStoreExists(url) : existsSync(sqlitePath(url));
}

/** Looks at all of the store at `url`, of this release or an earlier one. @throws StoreNotUsable */
export async function checkStore(url: string): Promise<Findings> {
  return isPostgresUrl(url) ? checkPostgres(url) : checkSqlite(sqlitePath(url));
}
