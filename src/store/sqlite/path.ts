export const SQLITE = 'sqlite:';

/** The file of a `sqlite:PATH` URL; both sqlite:relative/path and sqlite:///absolute/path. */
export function sqlitePath(url: string): string {
  const path = url.slice(SQLITE.length);
  return path.startsWith('//') ? path.slice(2) : path;
}
