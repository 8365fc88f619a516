import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Backup } from '../../backups.ts';
import type { OpenOptions } from '../../open-options.ts';
import { StoreNotUsable } from '../../store.ts';
import { readableLocation, readDatabase } from '../database/connection.ts';
import { codeOf, storeError } from '../database/errors.ts';
import { MIGRATIONS, migrationsOf } from '../database/schema.ts';
import { timeForName } from './backup.ts';
import { inBackupThread } from './backup-in-thread.ts';
import { storeDigest } from './backup-rotation.ts';

/**
 * Makes a backup of a store that is about to be migrated, for a return to the previous release.
 * @throws StoreNotUsable if it cannot be made
 */
export async function backupBeforeMigration(path: string, { onBackup, backupFolder }: OpenOptions) {
  const has = schemaOf(path);
  if (has === 0 || has === MIGRATIONS.length) return;
  // Several stores can share a folder of backups.
  const store =
    backupFolder === undefined ? basename(path) : `${basename(path)}-${storeDigest(path)}`;
  // Nodes that start together would have the same name at the same millisecond.
  const name = `${store}.schema-${has}-${timeForName()}-${randomBytes(2).toString('hex')}.db`;
  const target = join(backupFolder ?? dirname(resolve(path)), name);
  try {
    const { findings } = await inBackupThread<Backup>({ job: 'backup', path, target });
    if (findings.schema.has !== has) {
      // Another process has migrated the store since, and has made a backup before that.
      rmSync(target, { force: true });
      return;
    }
    onBackup?.(target, findings.problems);
    deleteOlder(target, has);
  } catch (error) {
    if (!(error instanceof StoreNotUsable)) throw error;
    throw new StoreNotUsable(
      `the backup before the migration failed: ${error.message}; correct the cause or, to migrate without a backup, run ` +
        '"store-orders migrate"',
      { cause: error },
    );
  }
}

const ENDING = /Z-[0-9a-f]{4}\.db$/;

/** Only the latest backup of each schema is kept, so that repeated failed starts do not fill the disk. */
function deleteOlder(target: string, has: number): void {
  const folder = dirname(target);
  const [prefix] = basename(target).split(`.schema-${has}-`);
  for (const name of readdirSync(folder)) {
    const isOlder = name.startsWith(`${prefix}.schema-${has}-`) && ENDING.test(name);
    if (isOlder && name < basename(target)) rmSync(join(folder, name), { force: true });
  }
}

/** Returns the number of migrations of a database; 0 if it is missing, or will be refused when it is opened. */
function schemaOf(path: string): number {
  if (!existsSync(path)) return 0;
  try {
    return readDatabase(readableLocation(path), migrationsOf);
  } catch (error) {
    if (codeOf(error) === 'busy') throw storeError(path, error);
    return 0;
  }
}
