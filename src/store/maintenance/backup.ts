import { resolve } from 'node:path';
import { type Action, actionOf } from '../audit.ts';
import { isPostgresUrl } from '../postgres/database/address.ts';
import { sqlitePath } from '../sqlite/database/connection.ts';
import { type Backup, copySqlite, makeBackup } from '../sqlite/maintenance/backup.ts';
import {
  type LatestBackup,
  latestBackup,
  type Rotated,
  type Rotation,
} from '../sqlite/maintenance/backup-rotation.ts';
import { rotateInThread } from '../sqlite/maintenance/backup-thread.ts';
import { type Restored, restoreSqlite } from '../sqlite/maintenance/restore.ts';
import { StoreNotUsable } from '../store.ts';
import type { Findings } from '../tables/consistency.ts';
import { copyStore } from './copy.ts';

/**
 * Copies the store to an SQLite database at `file`, which must not exist, and checks the copy; the store may be in use
 * meanwhile.
 * @throws StoreNotUsable, also if the store does not pass the check
 */
export async function backupStore(url: string, file: string): Promise<Backup> {
  return makeBackup(resolve(file), async (partial) => {
    if (!isPostgresUrl(url)) copySqlite(sqlitePath(url), partial);
    else await copyStore(url, `sqlite:${partial}`, { isMove: false, onProgress: () => {} });
  });
}

/**
 * Makes a backup of a service's SQLite store if one is due; requests are served meanwhile. See `rotateBackups`.
 * @throws StoreNotUsable, and errors of the file system
 */
export function rotateStore(url: string, rotation: Rotation): Promise<Rotated> {
  return rotateInThread(sqlitePath(url), rotation);
}

/** Returns the latest backup that services have made of the SQLite store at `url`. @throws errors of the file system */
export function latestBackupOf(url: string, folder: string): LatestBackup | undefined {
  return latestBackup(sqlitePath(url), folder);
}

/**
 * Replaces the SQLite database at `url`, which must not be in use, by the backup in `file`.
 * @param accept called with the findings about the backup before anything is changed; may throw to refuse it
 * @param action recorded in the restored store
 * @throws StoreNotUsable
 */
export async function restoreStore(
  url: string,
  file: string,
  accept: (backup: Findings) => void,
  action: Action = actionOf('restore', file),
): Promise<Restored> {
  if (isPostgresUrl(url)) {
    throw new StoreNotUsable(
      '"restore" supports only SQLite; to restore a backup into an empty PostgreSQL database, use "copy --from sqlite:FILE"',
    );
  }
  return restoreSqlite(file, sqlitePath(url), { accept, action });
}
