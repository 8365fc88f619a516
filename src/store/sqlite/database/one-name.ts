import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StoreNotUsable } from '../../store.ts';
import { mountOf } from './mounts.ts';

/**
 * Refuses a database that has several names, or is in another place than its log. SQLite names the log after the database: changes made
 * through one name are invisible through another, and lost if that one is used next. https://sqlite.org/howtocorrupt.html, 2.5
 * @throws StoreNotUsable
 */
export function expectOneName(path: string): void {
  const problem = namesProblem(path);
  if (problem !== undefined) throw new StoreNotUsable(problem);
}

/** Returns the problem that `expectOneName` reports, or undefined. */
export function namesProblem(path: string): string | undefined {
  const file = realpathSync(path);
  if (mountOf(file)?.point === file) {
    return (
      'it is mounted alone, without its log, which would be in the container and lost with it; mount its folder instead ' +
      '("Container" in docs/install.md)'
    );
  }
  const { nlink, ino } = statSync(file);
  if (nlink <= 1 || nlink - 1 === keptNames(file, ino)) return undefined;
  return (
    `it has ${nlink} names (hard links), and each would have a log of its own; remove the others ` +
    `(find ${dirname(file)} -inum ${ino}), or use a symbolic link`
  );
}

/** Counts the names that an interrupted restore has left: before it replaces a database, it keeps the old one under another name. */
function keptNames(file: string, ino: number): number {
  const folder = dirname(file);
  const names = readdirSync(folder).filter((name) => name.startsWith(`${basename(file)}.before-`));
  return names.filter(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.ino === ino,
  ).length;
}
