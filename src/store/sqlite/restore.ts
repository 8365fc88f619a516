import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Findings } from '../consistency.ts';
import { StoreNotUsable } from '../store.ts';
import { copySqlite, makeUsable, syncToDisk, writeWhole } from './backup.ts';
import { checkSqlite } from './check.ts';
import { fileIdentity } from './connection.ts';
import { isBusy, isCorrupt, opening } from './errors.ts';
import { KNOWN_MIGRATIONS, missingMigrations } from './schema.ts';

/** What a restore did. */
export interface Restored {
  readonly findings: Findings;
  /** Where the database that was there is kept; undefined if there was none. */
  readonly kept: string | undefined;
}

/**
 * Puts a copy of the store in `file` in the place of the database at `target`, which is kept beside it. The copy is
 * checked before and after, and takes the place in one step; nothing of the log of the database before is left.
 * @param accept may throw for what was found in the backup, before anything is changed
 * @throws StoreNotUsable, with nothing changed, when `file` is not sound, or the database is in use or not ours
 */
export async function restoreSqlite(
  file: string,
  target: string,
  accept: (backup: Findings) => void,
): Promise<Restored> {
  const source = sound(file, checkSqlite(file));
  accept(source);
  const wasThere = existsSync(target);
  // A link would be replaced, and what it leads to stay in use.
  const path = wasThere ? realpathSync(target) : target;
  if (wasThere && fileIdentity(path) === fileIdentity(file)) {
    throw new StoreNotUsable('the backup and the database are the same file');
  }
  const kept = `${path}.before-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  if (wasThere) opening(path, () => refuseOther(path, source));
  await writeWhole(path, {
    write: async (partial) => {
      copySqlite(file, partial);
      sound(partial, checkSqlite(partial));
      makeUsable(partial);
      if (process.getuid?.() === 0) giveLike(partial, wasThere ? path : dirname(resolve(path)));
      if (wasThere) chmodSync(partial, statSync(path).mode);
    },
    putInPlace: (partial) => {
      // Something to lock, unless a service has made a database there meanwhile.
      if (!wasThere) closeSync(openSync(path, 'wx', 0o600));
      opening(path, () =>
        lockedAlone(path, () => {
          setAside(path, kept);
          if (wasThere) keep(path, kept);
          renameSync(partial, path);
        }),
      );
    },
  });
  return { findings: source, kept: wasThere ? kept : undefined };
}

function sound(path: string, findings: Findings): Findings {
  if (findings.problems.length === 0) return findings;
  throw new StoreNotUsable(
    [`${path} failed the check; nothing was restored:`, ...findings.problems].join('\n  '),
  );
}

/** A database that a slip would lose: another program's, of another environment, or one that goes on elsewhere. */
function refuseOther(path: string, source: Findings): void {
  const db = new DatabaseSync(path, { readOnly: true, readBigInts: true });
  try {
    // An empty file.
    if (missingMigrations(db).length === KNOWN_MIGRATIONS) return;
    const store = db.prepare('SELECT * FROM store').get();
    const { environment, moved_to: movedTo } = store ?? {};
    if (environment && source.environment && environment !== source.environment) {
      throw new StoreNotUsable(
        `it is for ${environment}, and the backup for ${source.environment}`,
      );
    }
    if (movedTo) {
      throw new StoreNotUsable(
        `the store was moved to ${movedTo}; to go on here all the same, run "store-orders take-back" before`,
      );
    }
  } catch (error) {
    // What cannot be read is why it is restored.
    if (!isCorrupt(error)) throw error;
  } finally {
    db.close();
  }
}

/**
 * Runs `use` while no other connection can use the database, and its log is in the file.
 * @throws StoreNotUsable when there are other connections
 */
function lockedAlone(path: string, use: () => void): void {
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    // In this mode the first transaction takes a lock that no other connection bears, and keeps it.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    if (isLogWorkedIn(db)) {
      // From here on the lock is a transaction's, so that at the end, when another file has the name, nothing is removed.
      db.exec('PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema; BEGIN EXCLUSIVE');
      if (db.prepare('PRAGMA journal_mode').get()?.journal_mode !== 'delete') throw inUse();
      use();
      return;
    }
  } catch (error) {
    throw isBusy(error) ? inUse() : error;
  } finally {
    db.close();
  }
  // A connection to a torn log would remove, when it is closed, what has the log's name by then.
  use();
}

function inUse(): StoreNotUsable {
  return new StoreNotUsable('it is in use; stop the service and the commands that use it');
}

/** Also removes the log. False for a torn one. */
function isLogWorkedIn(db: DatabaseSync): boolean {
  try {
    db.exec('PRAGMA journal_mode = DELETE');
    return true;
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return false;
  }
}

/** The file under another name too; a copy of it where a disk has no hard links. */
function keep(path: string, kept: string): void {
  try {
    linkSync(path, kept);
  } catch {
    copyFileSync(path, kept, constants.COPYFILE_EXCL);
    syncToDisk(kept);
  }
  syncToDisk(dirname(path));
}

/** The files beside a database: SQLite would take them for those of the one that takes its place. */
function setAside(path: string, kept: string): void {
  for (const suffix of ['-wal', '-journal']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, kept + suffix);
  }
  // An index of the log, which SQLite makes anew.
  rmSync(`${path}-shm`, { force: true });
}

function giveLike(path: string, like: string): void {
  const { uid, gid } = statSync(like);
  chownSync(path, uid, gid);
}
