import { DatabaseSync } from 'node:sqlite';
import { ALL_IDS, type FreeIds, leapAbove } from '../../orders/ids.ts';
import type { OrderId } from '../../orders/order.ts';

/**
 * Reserves the ids that may have been given after the backup `path` was made, in the histories of `given` too.
 * The backup may have the schema of an earlier release: migration 010 then finds the reservation in a table.
 * @returns the next id that the store gives
 */
export function reserveIds(path: string, given: readonly FreeIds[]): OrderId {
  const db = new DatabaseSync(path, { readBigInts: true });
  try {
    const own = freeIdsOf(db);
    const highest = [own, ...given].map((ids) => (ids.highest > own.last ? 0n : ids.highest));
    const reserved = leapAbove({
      highest: highest.reduce((a, b) => (a > b ? a : b)),
      last: own.last,
    });
    if (has(db, 'store', 'reserved_id'))
      db.prepare('UPDATE store SET reserved_id = ?').run(reserved);
    else {
      db.exec('CREATE TABLE IF NOT EXISTS restored (reserved_id INTEGER NOT NULL) STRICT');
      db.prepare('INSERT INTO restored VALUES (?)').run(reserved);
    }
    return reserved + 1n;
  } finally {
    db.close();
  }
}

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
