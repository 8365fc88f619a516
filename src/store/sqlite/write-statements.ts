import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ORDERS_BY_ID } from './rows.ts';

/** The statements of the writer; rows are returned as arrays. */
export type Statements = Record<keyof typeof SQL, StatementSync>;

export function prepareStatements(db: DatabaseSync): Statements {
  const entries = Object.entries(SQL).map(([name, sql]) => {
    const statement = db.prepare(sql);
    statement.setReturnArrays(true);
    return [name, statement];
  });
  return Object.fromEntries(entries) as Statements;
}

const SQL = {
  use: 'SELECT (SELECT user_version FROM pragma_user_version), moved_to FROM store',
  setRevision: `UPDATE store SET revision = revision + 1, mark = random(), pending = pending + ?, shipped = shipped + ?,
    cancelled = cancelled + ? RETURNING revision`,
  orders: ORDERS_BY_ID,
  insertOrder: `INSERT INTO orders (status, pet_id, quantity, ship_date, complete, revision, id)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  updateOrder: `UPDATE orders SET status = ?, pet_id = ?, quantity = ?, ship_date = ?, complete = ?,
    revision = ? WHERE id = ?`,
  setStatus: `UPDATE orders SET status = ?, revision = ? WHERE id IN (SELECT value FROM json_each(?))`,
  insertEvents: `INSERT INTO order_events (revision, type, at, by, order_id, previous)
    SELECT ?, ?, ?, ?, happening.value,
      coalesce((SELECT revision FROM orders WHERE id = happening.value), 0)
    FROM json_each(?) AS happening`,
  recordEnvironment: 'UPDATE store SET environment = ? WHERE environment IS NULL',
  environment: 'SELECT environment FROM store',
  moveAway: 'UPDATE store SET moved_to = ? WHERE revision = ?',
  takeBack: `UPDATE store SET moved_to = NULL, id = iif(id = '', '', lower(hex(randomblob(8))))
    WHERE moved_to IS NOT NULL`,
  insertKey: `INSERT INTO api_keys (id, name, environment, digest, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?)`,
  anyKey: 'SELECT 1 FROM api_keys WHERE environment = ? LIMIT 1',
  key: 'SELECT revoked_at FROM api_keys WHERE id = ?',
  revokeKey: 'UPDATE api_keys SET revoked_at = ? WHERE id = ?',
  recordKeyUse: 'UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?',
  putPet: 'INSERT OR REPLACE INTO pets (id, name, tag) VALUES (?, ?, ?)',
  highestId: `SELECT max((SELECT coalesce(max(id), 0) FROM orders),
    (SELECT coalesce(max(highest_id), 0) FROM imports), 0)`,
  importProgress: 'SELECT placed FROM imports WHERE source = ?',
  beginImport:
    'INSERT OR REPLACE INTO imports (source, run, placed, highest_id) VALUES (?, ?, ?, ?)',
  importInTurn: 'SELECT 1 FROM imports WHERE source = ? AND run = ?',
  advanceImport: 'UPDATE imports SET placed = placed + ? WHERE source = ?',
  endImport: 'DELETE FROM imports WHERE source = ? AND run = ?',
} as const;
