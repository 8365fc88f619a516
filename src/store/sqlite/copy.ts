import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { StoreNotUsable, type StoreStatus } from '../store.ts';
import {
  type Cell,
  type Cells,
  COPY_NOT_COMPLETE,
  ROWS_AT_A_TIME,
  type Source,
  TABLES,
  type Table,
  type Target,
} from '../tables.ts';
import { expectExists, makeDurable, openForReading, openForWriting } from './connection.ts';
import { withOpenErrors } from './errors.ts';
import { LATEST_AT, type Row, STATUS_COLUMNS, statusFromRow } from './rows.ts';
import { expectSchema, migrate, missingMigrations } from './schema.ts';

/**
 * Opens a read-only snapshot of the store at `path`.
 * @throws StoreNotUsable
 */
export function openSqliteSource(path: string): Source {
  return withOpenErrors(path, () => {
    expectExists(path);
    const db = openForReading(path, false);
    const status = closingOnError(db, () => {
      expectSchema(db);
      db.exec('BEGIN');
      return readStatus(db);
    });
    return {
      status,
      isBackup: first(db, 'SELECT 1 FROM store WHERE backup_at IS NOT NULL') !== undefined,
      count: async ({ name }) => Number(first(db, `SELECT count(*) FROM ${name}`)![0]),
      rows: (table) => rowsOf(db, table),
      close: async () => db.close(),
    };
  });
}

/**
 * Opens an empty database, or one with an interrupted copy, for copying into it. An exclusive lock keeps other
 * processes out until it is closed.
 * @throws StoreNotUsable if the database holds a store
 */
export async function openSqliteTarget(path: string): Promise<Target> {
  return withOpenErrors(path, () => {
    const { db } = openForWriting(path, true);
    closingOnError(db, () => {
      missingMigrations(db);
      db.exec('PRAGMA locking_mode = EXCLUSIVE');
      makeDurable(db);
      migrate(db, 0, false);
      empty(db);
    });
    const previousOf = previousRevision();
    // Intermediate commits need no sync; the last one, in `complete`, syncs the whole log.
    db.exec('PRAGMA synchronous = NORMAL');
    return {
      insert: async ({ name, columns }, rows) => {
        const names = Object.keys(columns);
        if (name !== 'order_events') insert(db, name, names, rows);
        else {
          const linked = rows.map((row) => [...row, previousOf(row)]);
          insert(db, name, [...names, 'previous'], linked);
        }
      },
      rows: (table) => rowsOf(db, table),
      complete: async (status) => complete(db, status),
      close: async () => db.close(),
    };
  });
}

function closingOnError<T>(db: DatabaseSync, use: () => T): T {
  try {
    return use();
  } catch (error) {
    db.close();
    throw error;
  }
}

function readStatus(db: DatabaseSync): StoreStatus {
  const row = first(db, `SELECT ${STATUS_COLUMNS}, ${LATEST_AT} FROM store`);
  if (row === undefined) throw new StoreNotUsable(COPY_NOT_COMPLETE);
  return statusFromRow(row as Row);
}

/** Returns the first row, as an array. */
function first(db: DatabaseSync, sql: string): Cells | undefined {
  return prepared(db, sql).get() as unknown as Cells | undefined;
}

function prepared(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** Deletes the rows of an interrupted copy, and the row of the table store, without which no process can open it. */
function empty(db: DatabaseSync): void {
  const isStore = first(db, 'SELECT 1 FROM store') !== undefined;
  const isInUse = TABLES.some(({ name }) => first(db, `SELECT 1 FROM ${name} LIMIT 1`));
  if (isStore && isInUse) throw new StoreNotUsable('it already contains a store');
  const names = TABLES.map(({ name }) => name).reverse();
  db.exec(
    `BEGIN; DELETE FROM store; ${names.map((name) => `DELETE FROM ${name};`).join(' ')} COMMIT`,
  );
}

async function* rowsOf(db: DatabaseSync, { name, columns, key }: Table) {
  const sql = `SELECT ${Object.keys(columns).join(', ')} FROM ${name} ORDER BY ${key.join(', ')}`;
  const booleans = Object.values(columns).map((kind) => kind === 'boolean');
  let batch: Cells[] = [];
  for (const row of prepared(db, sql).iterate() as Iterable<unknown> as Iterable<Cells>) {
    batch.push(row.map((cell, at) => (booleans[at] && cell !== null ? cell === 1n : cell)));
    if (batch.length < ROWS_AT_A_TIME) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Returns a function that, given events in copy order, returns the previous revision of each one's order, or 0. */
function previousRevision(): (event: Cells) => bigint {
  let order: Cell | undefined;
  let revision = 0n;
  let previous = 0n;
  return ([orderId, eventRevision]) => {
    if (orderId !== order) {
      order = orderId;
      previous = 0n;
    } else if (eventRevision !== revision) previous = revision;
    revision = eventRevision as bigint;
    return previous;
  };
}

function insert(
  db: DatabaseSync,
  name: string,
  names: readonly string[],
  rows: readonly Cells[],
): void {
  const statement = db.prepare(
    `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  db.exec('BEGIN');
  for (const row of rows) statement.run(...row.map(inputOf));
  db.exec('COMMIT');
}

function inputOf(cell: Cell): SQLInputValue {
  return typeof cell === 'boolean' ? Number(cell) : cell;
}

function complete(db: DatabaseSync, status: StoreStatus): void {
  const { storeId, environment, revision, mark, orders } = status;
  const { pending, shipped, cancelled } = orders;
  db.exec('PRAGMA synchronous = FULL');
  db.prepare(
    `INSERT INTO store (only_row, ${STATUS_COLUMNS}) VALUES (1, ?, ?, NULL, ?, ?, ?, ?, ?)`,
  ).run(storeId, environment ?? null, revision, mark, pending, shipped, cancelled);
}
