import type { DatabaseSync } from 'node:sqlite';
import { StoreNotUsable } from '../../store.ts';
import { recordAction } from '../../tables/audit.ts';
import { countsSql } from '../../tables/consistency.ts';
import {
  completeMoved,
  type MovedIds,
  ROWS_AT_A_TIME,
  type Source,
  TABLES,
  type Table,
  type Target,
} from '../../tables/copied.ts';
import type { Column, Row } from '../../tables/session.ts';
import { insertStoreRow, readStatus } from '../../tables/store-row.ts';
import { foreignObjects } from '../database/catalog.ts';
import {
  makeDurable,
  openForReading,
  openForWriting,
  readableLocation,
  retryWhileBusy,
} from '../database/connection.ts';
import { openError, withOpenErrors } from '../database/errors.ts';
import { expectSchema, migrate, migrationsOf } from '../database/schema.ts';
import { Session } from '../database/session.ts';

const LOCK_WAIT_MS = 10_000;

export async function openSqliteSource(path: string): Promise<Source> {
  const db = withOpenErrors(path, () => openForReading(readableLocation(path)));
  const session = new Session(db);
  try {
    expectSchema(db);
    const foreign = foreignObjects(db);
    session.run('BEGIN');
    return {
      foreign,
      status: await readStatus(session),
      isBackup: session.query('SELECT 1 FROM store WHERE backup_at IS NOT NULL').length > 0,
      count: async ({ name }) =>
        withOpenErrors(path, () => Number(session.query(`SELECT count(*) FROM ${name}`)[0]![0])),
      rows: (table) => rowsOf(path, db, table),
      [Symbol.asyncDispose]: async () => db.close(),
    };
  } catch (error) {
    db.close();
    throw openError(path, error);
  }
}

/** An exclusive lock keeps other processes out until it is closed. */
export async function openSqliteTarget(path: string): Promise<Target> {
  return withOpenErrors(path, () => {
    const { db } = openForWriting(path, true);
    try {
      migrationsOf(db);
      db.exec('PRAGMA locking_mode = EXCLUSIVE');
      makeDurable(db);
      migrate(db, 0, false);
      empty(db);
    } catch (error) {
      db.close();
      throw error;
    }
    const session = new Session(db);
    const previousOf = previousRevision();
    // Intermediate commits need no sync; the last one, in `complete`, syncs the whole log.
    db.exec('PRAGMA synchronous = NORMAL');
    return {
      insert: async ({ name, columns }, rows) => {
        const names = Object.keys(columns);
        if (name !== 'order_events') insert(session, name, names, rows);
        else {
          const linked = rows.map((row) => [...row, previousOf(row)]);
          insert(session, name, [...names, 'previous'], linked);
        }
      },
      rows: (table) => rowsOf(path, db, table),
      counts: async () => session.query(countsSql())[0] as readonly bigint[],
      complete: async (status, action) => {
        session.run('PRAGMA synchronous = FULL');
        session.run('BEGIN');
        await insertStoreRow(session, status);
        if (action !== undefined) await recordAction(session, action);
        session.run('COMMIT');
      },
      [Symbol.asyncDispose]: async () => db.close(),
    };
  });
}

export async function whileSqliteMoved(
  path: string,
  label: string,
  complete: (ids: MovedIds) => Promise<void>,
): Promise<void> {
  using db = withOpenErrors(path, () => openForWriting(path, false).db);
  withOpenErrors(path, () => retryWhileBusy(LOCK_WAIT_MS, () => db.exec('BEGIN IMMEDIATE')));
  await completeMoved(new Session(db), label, complete);
}

/** Deletes the rows of an interrupted copy, and the row of the table store, without which no process can open it. */
function empty(db: DatabaseSync): void {
  const hasRows = (name: string) => db.prepare(`SELECT 1 FROM ${name} LIMIT 1`).get() !== undefined;
  const isStore = hasRows('store');
  const isInUse = TABLES.some(({ name }) => hasRows(name));
  if (isStore && isInUse) throw new StoreNotUsable('it already contains a store');
  const names = TABLES.map(({ name }) => name).reverse();
  db.exec(
    `BEGIN; DELETE FROM store; ${names.map((name) => `DELETE FROM ${name};`).join(' ')} COMMIT`,
  );
}

/**
 * Reads the rows of a table in order of their key, at most ROWS_AT_A_TIME at once.
 * @throws StoreNotUsable if pages of the table are damaged
 */
async function* rowsOf(path: string, db: DatabaseSync, { name, columns, key }: Table) {
  const sql = `SELECT ${Object.keys(columns).join(', ')} FROM ${name} ORDER BY ${key.join(', ')}`;
  try {
    const statement = db.prepare(sql);
    statement.setReturnArrays(true);
    let batch: Row[] = [];
    for (const row of statement.iterate() as Iterable<unknown> as Iterable<Row>) {
      batch.push(row);
      if (batch.length < ROWS_AT_A_TIME) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  } catch (error) {
    throw openError(path, error);
  }
}

/** Returns a function that takes events in the order of the copy, and returns the revision of the order's event before each one, or 0. */
function previousRevision(): (event: Row) => bigint {
  let order: Column | undefined;
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

function insert(session: Session, name: string, names: readonly string[], rows: readonly Row[]) {
  const sql = `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  session.run('BEGIN');
  for (const row of rows) session.write(sql, row);
  session.run('COMMIT');
}
