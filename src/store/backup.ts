import type { Findings } from './consistency.ts';
import { copyStore } from './copy.ts';
import { isPostgresUrl } from './postgres/address.ts';
import { copySqlite, makeBackup } from './sqlite/backup.ts';
import { sqlitePath } from './sqlite/path.ts';
import { type Restored, restoreSqlite } from './sqlite/restore.ts';
import { StoreNotUsable } from './store.ts';

/**
 * Copies the store to an SQLite database at `file`, which must not exist; the store may be in use meanwhile.
 * @throws StoreNotUsable
 */
export async function backupStore(url: string, file: string): Promise<void> {
  await makeBackup(file, async (partial) => {
    if (!isPostgresUrl(url)) copySqlite(sqlitePath(url), partial);
    else await copyStore(url, `sqlite:${partial}`, { isMove: false, onProgress: () => {} });
  });
}

/**
 * Replaces the SQLite database at `url`, which must not be in use, by the backup in `file`.
 * @param accept called with the findings about the backup before anything is changed; may throw to refuse it
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
