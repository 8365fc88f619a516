export const SQLITE = 'sqlite:';

/** Returns the file of a `sqlite:PATH` URL: sqlite:relative/path or sqlite:///absolute/path. */
export function sqlitePath(url: string): string {
  const path = url.slice(SQLITE.length);
  return path.startsWith('//') ? path.slice(2) : path;
}
