import {
  filesIn,
  isPostgresUrl,
  parseAddress,
  postgresUrlProblem,
  withoutCredentials,
} from './postgres/database/address.ts';
import { SQLITE, sqlitePath, sqlitePathProblem } from './sqlite/database/connection.ts';

/** Control characters, and those that have no width or look like a blank: Unicode's categories, and what fonts leave out. */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! |\u3000)\p{Zs}/u;
/** Joiners and variation selectors, with which Persian, Indic scripts and emoji are written. */
const JOINING = /(?<=(?!\p{ASCII})[\p{L}\p{M}\p{Emoji}])(?:\u200c|\u200d|\ufe0e|\ufe0f)+/gu;

/** Names the first character of a text that cannot be seen; undefined if there is none. */
export function invisibleIn(text: string): string | undefined {
  const found = INVISIBLE.exec(text.replaceAll(JOINING, ({ length }) => '-'.repeat(length)));
  if (found === null) return undefined;
  const code = found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return `control or invisible characters, such as U+${code} after ${found.index} characters`;
}

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
