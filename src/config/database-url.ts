import { readFileSync } from 'node:fs';
import { databaseUrlProblem, isSameDatabase } from '../store/url.ts';
import type { SettingsReader } from './settings.ts';

/** Reads DATABASE_URL, or the file named by DATABASE_URL_FILE, which keeps the password out of the environment. */
export function readDatabaseUrl(
  settings: SettingsReader<'DATABASE_URL' | 'DATABASE_URL_FILE'>,
): string | undefined {
  const { problems } = settings;
  const isInFile = settings.isSet('DATABASE_URL_FILE');
  if (isInFile && settings.isSet('DATABASE_URL')) {
    const both = `${settings.nameOf('DATABASE_URL')} or ${settings.nameOf('DATABASE_URL_FILE')}`;
    problems.push(`set ${both}, not both`);
    return undefined;
  }
  const url = isInFile
    ? settings.read('DATABASE_URL_FILE', contentOf, 'a readable file')
    : settings.read('DATABASE_URL', (text) => text, 'a URL');
  if (url === undefined) return undefined;
  const problem = databaseUrlProblem(url);
  if (problem === undefined) return url;
  const where = isInFile
    ? `the content of ${settings.nameOf('DATABASE_URL_FILE')}`
    : settings.nameOf('DATABASE_URL');
  // A malformed URL is not shown, since a password could be anywhere in it.
  const shown = /^sqlite:|^[\w./-]*$/.test(url) ? `, not "${url}"` : '';
  problems.push(`${where} ${problem}${shown}`);
  return undefined;
}

/**
 * Returns a function that reads the current URL. Only user and password may change: another database would be another
 * store, for which the list held by the service would be wrong. A file that is unreadable or contains any other URL
 * is ignored.
 */
export function urlSource(file: string | undefined, url: string): () => string {
  if (file === undefined) return () => url;
  let last = url;
  return () => {
    const now = contentOf(file);
    const isUsable = now !== undefined && databaseUrlProblem(now) === undefined;
    if (isUsable && isSameDatabase(now, url)) last = now;
    return last;
  };
}

/** Returns the trimmed content of a file, or undefined if it cannot be read. */
export function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
