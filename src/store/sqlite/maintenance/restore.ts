import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ALL_IDS, type FreeIds, leapAbove } from '../../../domain/ids.ts';
import type { OrderId } from '../../../domain/order.ts';
import type { Action } from '../../audit.ts';
import type { Restored, RestoreOptions } from '../../backups.ts';
import { canBeLeftOut } from '../../expected-schema.ts';
import { StoreNotUsable } from '../../store.ts';
import { recordAction } from '../../tables/audit.ts';
import type { Findings } from '../../tables/consistency.ts';
import { dropForeignObjects } from '../database/catalog.ts';
import {
  fileIdentity,
  readableLocation,
  readDatabase,
  syncFolder,
  syncToDisk,
  takeRights,
} from '../database/connection.ts';
import { codeOf, openError, unlessCorrupt, withOpenErrors } from '../database/errors.ts';
import { expectOneName } from '../database/one-name.ts';
import { LastGiven } from '../database/origin.ts';
import { migrationsOf } from '../database/schema.ts';
import { Session } from '../database/session.ts';
import {
  changeDatabase,
  copySqlite,
  expectSound,
  makeUsable,
  timeForName,
  writeWhole,
} from './backup.ts';
import { checkSqlite } from './check.ts';

/**
 * Replaces the database at `target`, and keeps the old one beside it. The backup is checked before and after it is copied, and put in place in one
 * step, with no log of the old database left. If it is refused, nothing is changed.
 */
export async function restoreSqlite(
  file: string,
  target: string,
  { accept, action, mayBeAnother, dropsForeign }: RestoreOptions,
): Promise<Restored> {
  const source = await checkSqlite(file, { isSample: true });
  const refused = dropsForeign ? [] : source.foreign;
  const isHelped = refused.length > 0 && refused.every(canBeLeftOut);
  const hint = isHelped ? ['to restore without it, use --without-foreign-objects'] : [];
  expectSound(source, `${file} failed the check; nothing was restored`, [...refused, ...hint]);
  accept(source);
  const expectReplaceable = (old: DatabaseSync) => refuseOtherStore(old, source, mayBeAnother);
  const wasThere = existsSync(target);
  // Resolves symbolic links: otherwise the link would be replaced, and its target would stay in use.
  const path = wasThere ? realpathSync(target) : target;
  if (wasThere && fileIdentity(path) === fileIdentity(file)) {
    throw new StoreNotUsable('the backup and the database are the same file');
  }
  const kept = `${path}.before-${timeForName()}`;
  if (wasThere) {
    withOpenErrors(path, () => {
      expectOneName(path);
      // A corrupt database is a reason to restore, and may be replaced.
      unlessCorrupt(
        () => readDatabase(path, expectReplaceable),
        () => {},
      );
    });
  }
  let nextId: OrderId | undefined;
  let undone: readonly string[] = [];
  await writeWhole(path, {
    write: async (partial) => {
      copySqlite(file, partial);
      if (dropsForeign) await changeDatabase(partial, dropForeignObjects);
      const copied = await checkSqlite(partial, { isSample: true });
      const summary = `the copy of ${file} failed the check; nothing was restored`;
      expectSound(copied, summary, copied.foreign);
      await makeUsable(partial);
      takeRights(partial, wasThere ? path : dirname(resolve(path)));
    },
    putInPlace: async (partial) => {
      // Creates a file to lock; fails if a service has created a database there in the meantime.
      if (!wasThere) closeSync(openSync(path, 'wx', 0o600));
      try {
        await withExclusiveLock(path, async (old) => {
          undone = old === undefined ? [] : undoneBy(file, old);
          const given = old === undefined ? [] : idsGivenBy(old, expectReplaceable);
          // The service makes it, as its own user.
          using last = existsSync(`${path}-ids`) ? new LastGiven(path) : undefined;
          const highest = last?.highestId ?? 0n;
          nextId = await beginHistory(partial, [...given, { ...ALL_IDS, highest }], action);
          syncToDisk(partial);
          moveLogAside(path, kept);
          if (wasThere) keep(path, kept);
          // What the backup lacks is no loss to be reported. Before the last step: a restore that is interrupted after it is none, either.
          last?.record({ highestId: highest, acknowledged: undefined });
          renameSync(partial, path);
        });
      } catch (error) {
        throw openError(path, error);
      }
    },
  });
  return { findings: source, kept: wasThere ? kept : undefined, nextId: nextId!, undone };
}

/** Returns the ids that the replaced database has assigned; none if they cannot be read. @throws StoreNotUsable if it must not be replaced */
function idsGivenBy(old: DatabaseSync, expectReplaceable: (old: DatabaseSync) => void): FreeIds[] {
  const read = () => {
    // It may have been moved while the backup was copied.
    expectReplaceable(old);
    return [freeIdsOf(old)];
  };
  return unlessCorrupt(read, () => []);
}

/** See Restored. None if the replaced database cannot be read, or one of the two has an earlier schema. */
function undoneBy(backup: string, old: DatabaseSync): string[] {
  try {
    const [was, now] = [
      keysAndWebhooks(old),
      readDatabase(readableLocation(backup), keysAndWebhooks),
    ];
    const lines = now.map(({ id, name, generation, is_ended: isEnded }) => {
      const before = was.find((each) => each.id === id);
      if (before === undefined) return `${id} (${name}) was deleted`;
      if (Number(before.generation) > Number(generation)) return `${id} (${name}) was rotated`;
      const isRevived = Number(before.is_ended) > Number(isEnded);
      return isRevived ? `${id} (${name}) was ${before.word}` : undefined;
    });
    return lines.filter((each) => each !== undefined);
  } catch {
    return [];
  }
}

function keysAndWebhooks(db: DatabaseSync) {
  return db
    .prepare(
      `SELECT id, name, 0 AS generation, revoked_at IS NOT NULL AS is_ended, 'revoked' AS word FROM api_keys
        UNION ALL SELECT id, url, generation, paused_for IS 'requested', 'paused' FROM webhooks`,
    )
    .all();
}

/** Refuses to replace a database by mistake: one of another program, store or environment, or moved elsewhere. */
function refuseOtherStore(db: DatabaseSync, source: Findings, mayBeAnother: boolean): void {
  const store = migrationsOf(db) === 0 ? undefined : db.prepare('SELECT * FROM store').get();
  const { identity, revision, environment, moved_to: movedTo } = store ?? {};
  // A service that was started before the restore has made a store without orders.
  const hasOrders = Number(revision ?? 0) > 0;
  const isAnother = hasOrders && identity && source.identity && identity !== source.identity;
  if (isAnother && !mayBeAnother) {
    throw new StoreNotUsable(
      `it is another store (${identity}) than that of the backup (${source.identity}); to replace its orders and keys nevertheless, use --another-store`,
    );
  }
  if (environment && source.environment && environment !== source.environment) {
    throw new StoreNotUsable(
      `it is for ${environment}, but the backup is for ${source.environment}`,
    );
  }
  if (movedTo) {
    throw new StoreNotUsable(
      `the store was moved to ${movedTo}; to replace it nevertheless, first run "store-orders reactivate"`,
    );
  }
}

/**
 * Runs `use` while no other connection can use the database, and its log is checkpointed. If the log is corrupt, `use` gets no connection.
 * @throws StoreNotUsable if there are other connections
 */
async function withExclusiveLock(path: string, use: (db?: DatabaseSync) => Promise<void>) {
  const db = new DatabaseSync(resolve(path), { timeout: 0, readBigInts: true });
  try {
    // In this mode the first transaction takes a lock that excludes all other connections, and keeps it.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    const checkpointLog = () => {
      db.exec('PRAGMA journal_mode = DELETE');
      return true;
    };
    if (unlessCorrupt(checkpointLog, () => false)) {
      // Holds the lock in a transaction instead: when the connection is closed, `path` names another file, and nothing must be deleted.
      db.exec('PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema; BEGIN EXCLUSIVE');
      if (db.prepare('PRAGMA journal_mode').get()?.journal_mode !== 'delete') throw inUse();
      await use(db);
      return;
    }
  } catch (error) {
    throw codeOf(error) === 'busy' ? inUse() : error;
  } finally {
    db.close();
  }
  // The log is corrupt. Runs after the connection is closed: closing deletes the file that has the log's name.
  await use();
}

function inUse(): StoreNotUsable {
  return new StoreNotUsable('it is in use; stop the service and all commands that use it');
}

/** Keeps the file under a second name: a hard link, or a copy on a disk without hard links. */
function keep(path: string, kept: string): void {
  try {
    linkSync(path, kept);
  } catch {
    copyFileSync(path, kept, constants.COPYFILE_EXCL);
    syncToDisk(kept);
  }
  syncFolder(dirname(path));
}

/** Moves the log and journal of the old database aside; SQLite would apply them to the new one. */
function moveLogAside(path: string, kept: string): void {
  for (const suffix of ['-wal', '-journal']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, kept + suffix);
  }
  // The index of the log; SQLite rebuilds it.
  rmSync(`${path}-shm`, { force: true });
}

/**
 * Prepares the backup at `path` for use: records the restore, and reserves the ids that may have been assigned since the backup was made, also
 * by the stores of `given`. The schema of an earlier release has no columns for this: then both are written to the table restored, and the
 * migrations move them.
 * @returns the next id that the store assigns
 */
function beginHistory(path: string, given: readonly FreeIds[], action: Action): Promise<OrderId> {
  return changeDatabase(path, async (db) => {
    const own = freeIdsOf(db);
    const highest = [own, ...given].map((ids) => (ids.highest > own.last ? 0n : ids.highest));
    const reserved = leapAbove({ highest: largestOf(highest), last: own.last });
    const { command, user, host, what } = action;
    const record = [Date.now(), user, host, what];
    if (has(db, 'audit', 'what')) {
      db.prepare('UPDATE store SET reserved_id = ?').run(reserved);
      if (has(db, 'audit', 'hash')) await recordAction(new Session(db), action);
      else db.prepare(RECORD).run(command, ...record);
    } else {
      db.exec(RESTORED);
      db.prepare('INSERT INTO restored VALUES (?, ?, ?, ?, ?)').run(reserved, ...record);
    }
    return reserved + 1n;
  });
}

function largestOf(ids: readonly OrderId[]): OrderId {
  return ids.reduce((one, other) => (one > other ? one : other));
}

const RECORD = 'INSERT INTO audit (command, at, os_user, host, what) VALUES (?, ?, ?, ?, ?)';

/** As in migration 010. */
const RESTORED = `CREATE TABLE IF NOT EXISTS restored (reserved_id INTEGER NOT NULL, at INTEGER NOT NULL,
  os_user TEXT NOT NULL, host TEXT NOT NULL, what TEXT NOT NULL) STRICT`;

/** Returns the ids that a store of this release or an earlier one may give. */
function freeIdsOf(db: DatabaseSync): FreeIds {
  if (has(db, 'highest_id', 'id')) {
    const row = db.prepare('SELECT id, last_id FROM highest_id').get();
    if (row !== undefined) return { highest: row.id as bigint, last: row.last_id as bigint };
  }
  const highest = [
    maximum(db, 'orders', 'id'),
    maximum(db, 'imports', 'highest_id'),
    maximum(db, 'restored', 'reserved_id'),
  ];
  return { ...ALL_IDS, highest: largestOf(highest) };
}

function maximum(db: DatabaseSync, table: string, column: string): OrderId {
  if (!has(db, table, column)) return 0n;
  return db.prepare(`SELECT coalesce(max(${column}), 0) AS id FROM ${table}`).get()!.id as bigint;
}

function has(db: DatabaseSync, table: string, column: string): boolean {
  const sql = 'SELECT 1 FROM pragma_table_info(?) WHERE name = ?';
  return db.prepare(sql).get(table, column) !== undefined;
}
