import { existsSync } from 'node:fs';
import { backupSqlite } from './sqlite/backup.ts';
import { openSqlite } from './sqlite/open.ts';
import { type OpenOptions, type Store, StoreNotUsable } from './store.ts';

const SQLITE = 'sqlite:';

/** The file of a `sqlite:PATH` URL; both sqlite:relative/path and sqlite:///absolute/path. */
function sqlitePath(url: string): string {
  const path = url.slice(SQLITE.length);
  return path.startsWith('//') ? path.slice(2) : path;
}

/** What is wrong with a database URL, or undefined. */
export function databaseUrlProblem(url: string): string | undefined {
  if (!url.startsWith(SQLITE)) return 'must be sqlite:PATH, such as sqlite:data/store-orders.db';
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
  if (problem !== undefined) throw new StoreNotUsable(`database URL "${url}" ${problem}`);
  return openSqlite(sqlitePath(url), options);
}

/** Whether there is something at `url` already. */
export async function storeExists(url: string): Promise<boolean> {
  return existsSync(sqlitePath(url));
}

/** Copies the store to a file of its engine's own kind, while it is in use. @throws StoreNotUsable */
export async function backupStore(url: string, file: string): Promise<void> {
  backupSqlite(sqlitePath(url), file);
}
