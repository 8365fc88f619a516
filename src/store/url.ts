import { resolve } from 'node:path';
import {
  filesIn,
  isPostgresUrl,
  parseAddress,
  postgresUrlProblem,
  withoutCredentials,
} from './postgres/database/address.ts';
import { SQLITE, sqlitePath } from './sqlite/database/connection.ts';

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

/** Returns the name of a database for messages: without password, and independent of the working directory. */
export function databaseLabel(url: string): string {
  return isPostgresUrl(url) ? parseAddress(url).label : `${SQLITE}${resolve(sqlitePath(url))}`;
}

/** Returns the path of an SQLite database; undefined for another one. */
export function fileOf(url: string): string | undefined {
  return isPostgresUrl(url) ? undefined : resolve(sqlitePath(url));
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
