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
import { newSession } from './connection.ts';
import { originOf } from './origin.ts';
import { arrayOf, byteaArray, type Row, statusFromRow } from './rows.ts';
import { migrate } from './schema.ts';
import type { Session, TimeLimits } from './session.ts';

/** For reading and writing everything, however long that takes. */
const LIMITS: TimeLimits = { lock: 10_000, statement: 0, idleInTransaction: 0 };
/** "STCP": the advisory lock of a copy into a database. */
const COPY_LOCK = 0x53544350;

/** @throws StoreNotUsable */
export async function openPostgresSource(url: string): Promise<Source> {
  const session = await newSession(url, LIMITS, (each) => migrate(each, false));
  await session.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
  return {
    status: await readStatus(session),
    count: async ({ name }) => {
      const [row] = await session.query({ text: `SELECT count(*) FROM ${name}` });
      return Number(row![0]);
    },
    rows: (table) => rowsOf(session, table),
    revisionNow: async () => {
      const now = await newSession(url, LIMITS);
      const { revision } = await readStatus(now);
      await now.end();
      return revision;
    },
    close: async () => session.destroy(),
  };
}

/** @throws StoreNotUsable when there is something in it, or another copy into it under way */
export async function openPostgresTarget(url: string): Promise<Target> {
  const session = await newSession(url, LIMITS, async (each) => {
    await migrate(each, true);
    await empty(each);
  });
  return {
    insert: (table, rows) => insert(session, table, rows),
    rows: (table) => inTransaction(session, () => rowsOf(session, table)),
    complete: (status) => complete(session, status),
    close: () => session.end(),
  };
}

async function readStatus(session: Session): Promise<StoreStatus> {
  const [row] = await session.query({
    text: 'SELECT id, revision, pending, shipped, cancelled FROM store',
  });
  if (row === undefined) throw new StoreNotUsable(COPY_NOT_COMPLETE);
  return statusFromRow(row);
}

/** Removes what an interrupted copy left, and the row without which there is no store. */
async function empty(session: Session): Promise<void> {
  const [lock] = await session.query({ text: `SELECT pg_try_advisory_lock(${COPY_LOCK})` });
  if (lock![0] !== 't') throw new StoreNotUsable('another copy into it is under way');
  const isStore = (await session.query({ text: 'SELECT FROM store' })).length > 0;
  const isInUse = TABLES.map(({ name }) => `EXISTS (SELECT FROM ${name})`).join(' OR ');
  const [row] = await session.query({ text: `SELECT ${isInUse}` });
  if (isStore && row![0] === 't') throw new StoreNotUsable('there is a store in it already');
  for (const name of ['store', ...TABLES.map((table) => table.name)]) {
    await session.write({ text: `DELETE FROM ${name}` });
  }
}

async function* inTransaction<T>(session: Session, work: () => AsyncIterable<T>) {
  await session.query({ text: 'BEGIN' });
  yield* work();
  await session.query({ text: 'COMMIT' });
}

async function* rowsOf(session: Session, { name, columns, key }: Table) {
  const order = key.map((each) => (columns[each] === 'text' ? `${each} COLLATE "C"` : each));
  const sql = `SELECT ${Object.keys(columns).join(', ')} FROM ${name} ORDER BY ${order.join(', ')}`;
  await session.query({ text: `DECLARE ${name}_found NO SCROLL CURSOR FOR ${sql}` });
  const fetch = { text: `FETCH ${ROWS_AT_A_TIME} FROM ${name}_found` };
  const kinds = Object.values(columns);
  for (let rows = await session.query(fetch); rows.length > 0; ) {
    const next = session.query(fetch);
    // It is awaited below; until then its failure is no unhandled one.
    next.catch(() => {});
    yield rows.map((row) => cellsOf(row, kinds));
    rows = await next;
  }
}

type Kinds = readonly Table['columns'][string][];

function cellsOf(row: Row, kinds: Kinds): Cells {
  return row.map((text, at): Cell => {
    if (text === null || kinds[at] === 'text') return text;
    if (kinds[at] === 'integer') return BigInt(text);
    if (kinds[at] === 'boolean') return text === 't';
    return Buffer.from(text.slice(2), 'hex');
  });
}

async function insert(
  session: Session,
  { name, columns }: Table,
  rows: readonly Cells[],
): Promise<void> {
  const types = { integer: 'bigint', text: 'text', boolean: 'boolean', bytes: 'bytea' };
  const arrays = Object.values(columns).map((kind, at) => `$${at + 1}::${types[kind]}[]`);
  const values = Object.values(columns).map((kind, at) => {
    const cells = rows.map((row) => row[at]!);
    if (kind === 'text') return cells;
    if (kind === 'bytes') return byteaArray(cells as Uint8Array[]);
    return arrayOf(cells.map((cell) => (cell as bigint | boolean | null) ?? undefined));
  });
  const text = `INSERT INTO ${name} (${Object.keys(columns).join(', ')})
    SELECT * FROM unnest(${arrays.join(', ')})`;
  await session.write({ name: `insert ${name}`, text }, values);
}

async function complete(session: Session, status: StoreStatus): Promise<void> {
  const { storeId, revision, orders } = status;
  await session.write({ text: 'INSERT INTO store VALUES (true, $1, $2, $3, $4, $5, $6)' }, [
    storeId,
    await originOf(session),
    revision,
    orders.pending,
    orders.shipped,
    orders.cancelled,
  ]);
  await session.query({ text: 'ANALYZE' }).catch(() => {});
}
