import type { Findings } from './consistency.ts';
import { copyStore } from './copy.ts';
import { isPostgresUrl } from './postgres/address.ts';
import { copySqlite, makeBackup } from './sqlite/backup.ts';
import { sqlitePath } from './sqlite/path.ts';
import { type Restored, restoreSqlite } from './sqlite/restore.ts';
import { StoreNotUsable } from './store.ts';

/** Copies the store to an SQLite database at `file`, while it is in use. @throws StoreNotUsable */
export async function backupStore(url: string, file: string): Promise<void> {
  await makeBackup(file, async (partial) => {
    if (!isPostgresUrl(url)) copySqlite(sqlitePath(url), partial);
    else await copyStore(url, `sqlite:${partial}`, { isMove: false, onProgress: () => {} });
  });
}

/**
 * Puts the backup in `file` in the place of the SQLite database at `url`, which must not be in use.
 * @param accept may throw for what was found in the backup, before anything is changed
 * @throws StoreNotUsable
 */
export async function restoreStore(
  url: string,
  file: string,
  accept: (backup: Findings) => void,
): Promise<Restored> {
  if (isPostgresUrl(url)) {
    throw new StoreNotUsable(
      '"restore" is for SQLite; "copy --from sqlite:FILE" brings a backup into an empty PostgreSQL database',
    );
  }
  return restoreSqlite(file, sqlitePath(url), accept);
}
