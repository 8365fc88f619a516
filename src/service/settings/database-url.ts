import { readFileSync } from 'node:fs';
import { invisibleIn } from '../../domain/text.ts';
import { type Database, databaseAt, databaseUrlProblem } from '../../store/database.ts';
import type { SettingsReader } from './reader.ts';

/** Reads DATABASE_URL, or the file named by DATABASE_URL_FILE, which keeps the password out of the environment. */
export function readDatabaseSetting(settings: SettingsReader): Database | undefined {
  const { problems } = settings;
  const file = settings.given('DATABASE_URL_FILE');
  const isInFile = file !== undefined;
  if (isInFile && settings.given('DATABASE_URL') !== undefined) {
    const both = `${settings.nameOf('DATABASE_URL')} or ${settings.nameOf('DATABASE_URL_FILE')}`;
    problems.push(`set ${both}, not both`);
    return undefined;
  }
  const url = isInFile ? contentOf(file) : settings.read('DATABASE_URL')!;
  if (url === undefined) {
    problems.push(`${settings.nameOf('DATABASE_URL_FILE')} must be a readable file, not "${file}"`);
    return undefined;
  }
  const problem = databaseUrlProblem(url);
  if (problem === undefined) return databaseAt(url);
  const where = isInFile
    ? `the content of ${settings.nameOf('DATABASE_URL_FILE')}`
    : settings.nameOf('DATABASE_URL');
  // A malformed URL is not shown, since any part of it could be a password.
  const isSafe = invisibleIn(url) === undefined && /^sqlite:|^[\w./-]*$/.test(url);
  const shown = isSafe ? `, not "${url}"` : '';
  problems.push(`${where} ${problem}${shown}`);
  return undefined;
}

/**
 * Returns a function that reads the current URL. Only user and password may change: with another database, the list in memory would be wrong. A
 * file that is unreadable or contains any other URL is ignored: `onIgnored` is called with the reason, once for each reason.
 */
export function urlSource(file: string | undefined, database: Database) {
  let last = database.url;
  let known: string | undefined;
  return (onIgnored: (reason: string) => void = () => {}): string => {
    if (file === undefined) return last;
    const now = contentOf(file);
    const ignored = whyIgnored(now, database);
    if (ignored === undefined) last = now!;
    else if (ignored !== known) onIgnored(ignored);
    known = ignored;
    return last;
  };
}

function whyIgnored(now: string | undefined, database: Database): string | undefined {
  if (now === undefined) return 'the file of the database URL cannot be read';
  const problem = databaseUrlProblem(now);
  if (problem !== undefined) return `the content of the file of the database URL ${problem}`;
  if (databaseAt(now).identity === database.identity) return undefined;
  return 'the file names another database; only user and password can change without a restart';
}

/** Returns the trimmed content of a file, or undefined if it cannot be read. */
export function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
