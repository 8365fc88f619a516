import type { DatabaseSync } from 'node:sqlite';
import { isCorrupt } from './errors.ts';

/** Maximum number of problems of the file that are listed; a damaged file can have any number. */
const MAX_NAMED = 20;

/** Returns the problems found by https://sqlite.org/pragma.html#pragma_integrity_check: reads every page, and blocks the thread. */
export function damageOf(db: DatabaseSync): string[] {
  try {
    const rows = db.prepare(`PRAGMA integrity_check(${MAX_NAMED})`).all();
    const lines = rows.flatMap((row) => String(row.integrity_check).split('\n'));
    return lines.filter((line) => line !== 'ok' && !line.startsWith('***')).slice(0, MAX_NAMED);
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return [(error as Error).message];
  }
}
