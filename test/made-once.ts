import { existsSync, mkdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** For files that are made once for all tests. */
export const CACHE = fileURLToPath(new URL('../node_modules/.cache/tests', import.meta.url));

/** After this time a lock is one of a test run that was interrupted. */
const STALE_MS = 60_000;

/**
 * Makes the file or folder `path` unless it exists. Test files run side by side: one of them makes it, the others wait,
 * and it appears whole.
 * @param make makes it at another path
 */
export async function madeOnce(
  path: string,
  make: (temporary: string) => Promise<void> | void,
): Promise<void> {
  const lock = `${path}.lock`;
  mkdirSync(dirname(path), { recursive: true });
  while (!existsSync(path)) {
    if (!taken(lock)) {
      await pause(50);
      continue;
    }
    try {
      // It may have appeared before the lock was taken.
      if (existsSync(path)) return;
      const temporary = `${path}.${process.pid}`;
      await make(temporary);
      renameSync(temporary, path);
    } finally {
      rmdirSync(lock);
    }
  }
}

/** Takes a lock: a folder, which only one process can create. */
function taken(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  if (Date.now() - since > STALE_MS) rmdirSync(lock);
  return false;
}
