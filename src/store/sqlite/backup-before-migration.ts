import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { OpenOptions } from '../open-options.ts';
import { StoreNotUsable } from '../store.ts';
import { backupInThread } from './backup-thread.ts';
import { readableLocation, readDatabase } from './connection.ts';
import { KNOWN_MIGRATIONS, missingMigrations } from './schema.ts';

/**
 * Makes a backup of a store that is about to be migrated: the way back to the release before.
 * @throws StoreNotUsable if it cannot be made
 */
export async function backupBeforeMigration(
  path: string,
  { onBackup, backupFolder }: OpenOptions,
): Promise<void> {
  const has = schemaOf(path);
  if (has === 0 || has === KNOWN_MIGRATIONS) return;
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
  const name = `${basename(path)}.schema-${has}-${time}.db`;
  const target = join(backupFolder ?? dirname(resolve(path)), name);
  try {
    const { findings } = await backupInThread({ path, target, mustBeSound: false });
    onBackup?.(target, findings.problems);
  } catch (error) {
    if (!(error instanceof StoreNotUsable)) throw error;
    throw new StoreNotUsable(
      `the backup before its migration failed: ${error.message}; correct that or, to migrate without a backup, run ` +
        '"store-orders migrate"',
      { cause: error },
    );
  }
}

/** Returns the number of migrations that a database has; 0 for one that is missing, or is refused when it is opened. */
function schemaOf(path: string): number {
  if (!existsSync(path)) return 0;
  try {
    const missing = readDatabase(readableLocation(path), missingMigrations);
    return KNOWN_MIGRATIONS - missing.length;
  } catch {
    return 0;
  }
}
