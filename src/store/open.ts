import { existsSync } from 'node:fs';
import type { OpenOptions } from './open-options.ts';
import { isPostgresUrl } from './postgres/database/address.ts';
import { openPostgres, postgresStoreExists } from './postgres/open.ts';
import { sqlitePath } from './sqlite/database/connection.ts';
import { openSqlite } from './sqlite/open.ts';
import { type Store, StoreNotUsable } from './store.ts';
import { databaseUrlProblem } from './url.ts';

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

/** Returns whether a database file, or a PostgreSQL schema, exists at `url`. */
export async function storeExists(url: string): Promise<boolean> {
  return isPostgresUrl(url) ? postgresStoreExists(url) : existsSync(sqlitePath(url));
}
