import { existsSync } from 'node:fs';
import type { RestoreOptions, Rotation } from '../backups.ts';
import type { MigrationSteps } from '../diagnosis.ts';
import type { OpenOptions } from '../open-options.ts';
import type { StoreCheck } from '../tables/consistency.ts';
import type { MovedIds } from '../tables/copied.ts';
import { readableLocation, readDatabase, SQLITE, sqlitePath } from './database/connection.ts';
import { withOpenErrors } from './database/errors.ts';
import { MIGRATIONS, migrationsOf } from './database/schema.ts';
import { copySqlite } from './maintenance/backup.ts';
import { rotateInThread } from './maintenance/backup-in-thread.ts';
import { latestBackup } from './maintenance/backup-rotation.ts';
import { checkSqlite } from './maintenance/check.ts';
import { openSqliteSource, openSqliteTarget, whileSqliteMoved } from './maintenance/copy.ts';
import { diagnoseSqlite } from './maintenance/diagnose.ts';
import { restoreSqlite } from './maintenance/restore.ts';
import { openSqlite } from './open.ts';

/** Returns the database at a sqlite:PATH URL; see Database. */
export function sqliteDatabase(url: string) {
  const path = sqlitePath(url);
  return {
    engine: 'sqlite' as const,
    url,
    label: `${SQLITE}${path}`,
    identity: url,
    file: {
      path,
      copyTo: (target: string) => copySqlite(path, target),
      rotateBackups: (rotation: Rotation) => rotateInThread(path, rotation),
      latestBackup: (folder: string) => latestBackup(path, folder),
      restore: (file: string, options: RestoreOptions) => restoreSqlite(file, path, options),
    },
    certificates: () => [],
    exists: async () => existsSync(path),
    open: (options: OpenOptions) => openSqlite(path, options),
    check: (options?: StoreCheck) => checkSqlite(path, options),
    diagnose: () => diagnoseSqlite(path),
    planMigrations: async () => planMigrations(path),
    openSource: () => openSqliteSource(path),
    openTarget: () => openSqliteTarget(path),
    whileMoved: (label: string, complete: (ids: MovedIds) => Promise<void>) =>
      whileSqliteMoved(path, label, complete),
  };
}

function planMigrations(path: string): MigrationSteps {
  const has = existsSync(path)
    ? withOpenErrors(path, () => readDatabase(readableLocation(path), migrationsOf))
    : 0;
  const effects = [
    'holds the write lock until all migrations are done: changes wait or get 503, reads continue; takes up to half a minute per million orders',
  ];
  return { steps: MIGRATIONS.slice(has).map((name) => ({ name, effects })), heldBy: [] };
}
