import { invisibleIn } from '../domain/text.ts';
import {
  filesIn,
  isPostgresUrl,
  parseAddress,
  postgresUrlProblem,
  withoutCredentials,
} from './postgres/database/address.ts';
import { SQLITE, sqlitePath, sqlitePathProblem } from './sqlite/database/connection.ts';

/** Returns the problem with a database URL, or undefined. */
export function databaseUrlProblem(url: string): string | undefined {
  const invisible = invisibleIn(url);
  if (invisible !== undefined) return `must not contain ${invisible}`;
  if (isPostgresUrl(url)) return postgresUrlProblem(url);
  if (!url.startsWith(SQLITE)) {
    return 'must be sqlite:PATH, such as sqlite:data/store-orders.db, or a postgres:// URL';
  }
  return sqlitePathProblem(url);
}

/** Returns the name of a database for messages: without password, and independent of the working directory. */
export function databaseLabel(url: string): string {
  return isPostgresUrl(url) ? parseAddress(url).label : `${SQLITE}${sqlitePath(url)}`;
}

/** Returns the path of an SQLite database; undefined for another one. */
export function fileOf(url: string): string | undefined {
  return isPostgresUrl(url) ? undefined : sqlitePath(url);
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
