import { resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ALL_IDS, type FreeIds, leapAbove } from '../../../domain/ids.ts';
import type { OrderId } from '../../../domain/order.ts';
import type { Action } from '../../audit.ts';
import { recordAction } from '../../tables/audit.ts';
import { Session } from '../database/session.ts';

/**
 * Prepares the backup at `path` for use: records the restore, and reserves the ids that may have been assigned since the backup was made, also
 * by the stores of `given`. The schema of an earlier release has no columns for this: then both are written to the table restored, and the
 * migrations move them.
 * @returns the next id that the store assigns
 */
export async function beginHistory(path: string, given: readonly FreeIds[], action: Action) {
  const db = new DatabaseSync(resolve(path), { readBigInts: true });
  try {
    const own = freeIdsOf(db);
    const highest = [own, ...given].map((ids) => (ids.highest > own.last ? 0n : ids.highest));
    const reserved = leapAbove({
      highest: highest.reduce((a, b) => (a > b ? a : b)),
      last: own.last,
    });
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
  } finally {
    db.close();
  }
}

const RECORD = 'INSERT INTO audit (command, at, os_user, host, what) VALUES (?, ?, ?, ?, ?)';

/** As in migration 010. */
const RESTORED = `CREATE TABLE IF NOT EXISTS restored (reserved_id INTEGER NOT NULL, at INTEGER NOT NULL,
  os_user TEXT NOT NULL, host TEXT NOT NULL, what TEXT NOT NULL) STRICT`;

/** Returns the ids that a store of this release or an earlier one may give. */
export function freeIdsOf(db: DatabaseSync): FreeIds {
  if (has(db, 'highest_id', 'id')) {
    const row = db.prepare('SELECT id, last_id FROM highest_id').get();
    if (row !== undefined) return { highest: row.id as bigint, last: row.last_id as bigint };
  }
  const highest = [
    maximum(db, 'orders', 'id'),
    maximum(db, 'imports', 'highest_id'),
    maximum(db, 'restored', 'reserved_id'),
  ];
  return { ...ALL_IDS, highest: highest.reduce((a, b) => (a > b ? a : b)) };
}

function maximum(db: DatabaseSync, table: string, column: string): OrderId {
  if (!has(db, table, column)) return 0n;
  return db.prepare(`SELECT coalesce(max(${column}), 0) AS id FROM ${table}`).get()!.id as bigint;
}

function has(db: DatabaseSync, table: string, column: string): boolean {
  const sql = 'SELECT 1 FROM pragma_table_info(?) WHERE name = ?';
  return db.prepare(sql).get(table, column) !== undefined;
}
