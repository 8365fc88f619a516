import { homedir } from 'node:os';
import { join } from 'node:path';

export const SQLITE = 'sqlite:';

/** Returns the file of a `sqlite:PATH` URL: sqlite:relative/path, sqlite:///absolute/path, or sqlite:~/path in the home folder. */
export function sqlitePath(url: string): string {
  const path = url.slice(SQLITE.length);
  if (path.startsWith('~/')) return join(homedir(), path.slice(2));
  return path.startsWith('//') ? path.slice(2) : path;
}
