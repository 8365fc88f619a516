import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { copyStore } from './copy.ts';
import { isPostgresUrl, parseAddress, postgresUrlProblem } from './postgres/address.ts';
import { openPostgres, postgresStoreExists } from './postgres/open.ts';
import { copySqlite, makeBackup } from './sqlite/backup.ts';
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

/** Whether there is something at `url` already. */
export async function storeExists(url: string): Promise<boolean> {
  return isPostgresUrl(url) ? postgresStoreExists(url) : existsSync(sqlitePath(url));
}

/** Which file it is, wherever it may have been moved; empty for a database that is none. */
export function databaseFile(url: string): string {
  if (isPostgresUrl(url)) return '';
  const { dev, ino } = statSync(sqlitePath(url), { bigint: true });
  return `${dev}:${ino}`;
}

/** Copies the store to an SQLite database at `file`, while it is in use. @throws StoreNotUsable */
export async function backupStore(url: string, file: string): Promise<void> {
  await makeBackup(file, async (partial) => {
    if (!isPostgresUrl(url)) copySqlite(sqlitePath(url), partial);
    else await copyStore(url, `sqlite:${partial}`, { mayChange: true, onProgress: () => {} });
  });
}
