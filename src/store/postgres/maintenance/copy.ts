import { foreignObjects } from '../../expected-schema.ts';
import { StoreNotUsable, type StoreStatus } from '../../store.ts';
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
import { integer, type Row, text } from '../../tables/session.ts';
import { insertStoreRow, readStatus } from '../../tables/store-row.ts';
import { arrayOf, byteaArray, textArray } from '../database/arrays.ts';
import { describeSchema } from '../database/catalog.ts';
import { newSession } from '../database/connection.ts';
import { batchesOf } from '../database/cursor.ts';
import { migrate } from '../database/schema.ts';
import { BEGIN_SNAPSHOT, type Session } from '../database/session.ts';
import { BULK } from '../database/session-settings.ts';

/** "STCP": the advisory lock held while copying into a database. */
const COPY_LOCK = 0x53544350;

export async function openPostgresSource(url: string): Promise<Source> {
  let status: StoreStatus | undefined;
  let foreign: readonly string[] = [];
  const session = await newSession(url, BULK, async (each) => {
    await migrate(each, { create: false, update: false });
    await each.run(BEGIN_SNAPSHOT);
    status = await readStatus(each);
    foreign = foreignObjects(await describeSchema(each));
  });
  return {
    status: status!,
    ...{ isBackup: false, foreign },
    count: async ({ name }) => {
      const [row] = await session.query(`SELECT count(*) FROM ${name}`);
      return Number(row![0]);
    },
    rows: (table) => rowsOf(session, table),
    [Symbol.asyncDispose]: () => session.end(),
  };
}

export async function openPostgresTarget(url: string): Promise<Target> {
  const session = await newSession(url, BULK, async (each) => {
    await migrate(each, { create: true, update: false });
    await empty(each);
  });
  return {
    insert: (table, rows) => insert(session, table, rows),
    // A cursor exists only until its transaction ends.
    rows: async function* (table) {
      await session.run('BEGIN');
      yield* rowsOf(session, table);
      await session.run('COMMIT');
    },
    counts: async () => {
      const [row] = await session.query(countsSql());
      return row as bigint[];
    },
    complete: async (status, action) => {
      await session.run('BEGIN');
      await insertStoreRow(session, status);
      if (action !== undefined) await recordAction(session, action);
      await session.commit();
      const names = TABLES.map(({ name }) => name).join(', ');
      // Updates the planner's statistics. Fails for a role that does not own the tables, which is harmless.
      await session.run(`ANALYZE ${names}`).catch(() => {});
    },
    [Symbol.asyncDispose]: () => session.end(),
  };
}

export async function whilePostgresMoved(
  url: string,
  label: string,
  complete: (ids: MovedIds) => Promise<void>,
): Promise<void> {
  using session = await newSession(url, BULK);
  await session.run('BEGIN');
  await session.query('SELECT FROM store FOR UPDATE');
  await completeMoved(session, label, complete);
}

/** Deletes the rows of an interrupted copy, and the row of the table store, without which no process can open it. */
async function empty(session: Session): Promise<void> {
  const [lock] = await session.query(`SELECT pg_try_advisory_lock(${COPY_LOCK})`);
  if (lock![0] !== 1n) throw new StoreNotUsable('another copy into this database is running');
  await session.run('BEGIN');
  // Every writer locks this row, so no other process can insert rows from here on.
  const isStore = (await session.query('SELECT FROM store FOR UPDATE')).length > 0;
  const isInUse = TABLES.map(({ name }) => `EXISTS (SELECT FROM ${name})`).join(' OR ');
  const [row] = await session.query(`SELECT ${isInUse}`);
  if (isStore && row![0] === 1n) throw new StoreNotUsable('it already contains a store');
  for (const name of ['store', ...TABLES.map((table) => table.name)]) {
    await session.write(`DELETE FROM ${name}`);
  }
  await session.commit();
}

function rowsOf(session: Session, { name, columns, key }: Table) {
  const order = key.map((each) => (columns[each] === 'text' ? `${each} COLLATE "C"` : each));
  const sql = `SELECT ${Object.keys(columns).join(', ')} FROM ${name} ORDER BY ${order.join(', ')}`;
  return batchesOf(session, { cursor: `${name}_found`, size: ROWS_AT_A_TIME }, sql);
}

async function insert(session: Session, { name, columns }: Table, rows: readonly Row[]) {
  const arrays = Object.values(columns).map((type, at) => `$${at + 1}::${type}[]`);
  const values = Object.values(columns).map((type, at) => {
    const cells = rows.map((row) => row[at]!);
    if (type === 'text') return textArray(cells.map(text));
    if (type === 'bytea') return byteaArray(cells.map((cell) => (cell as Uint8Array) ?? undefined));
    return arrayOf(cells.map(integer));
  });
  const sql = `INSERT INTO ${name} (${Object.keys(columns).join(', ')})
    SELECT * FROM unnest(${arrays.join(', ')})`;
  await session.write(sql, values);
}
