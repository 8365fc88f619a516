import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApiKey } from '../../keys/api-key.ts';
import type { Moment } from '../../orders/listing.ts';
import type { Order, OrderId } from '../../orders/order.ts';
import type { Pet } from '../../pets/pet.ts';
import type { OrderEvent, StoreStatus } from '../store.ts';
import type { Connection } from './connection.ts';
import {
  arrayOf,
  byteaArray,
  copyNotComplete,
  KEY_COLUMNS,
  keyFromRow,
  ORDER_COLUMNS,
  orderFromRow,
  type Row,
  statusFromRow,
} from './rows.ts';
import type { Session } from './session.ts';

/** Orders read in one go: bounds memory and how long the event loop stands still. */
const BATCH = 2_000;

type Visit = (orders: readonly Order[]) => void;

/** The read half of the PostgreSQL engine. */
export class Reader {
  /** For single statements, which share it. */
  readonly #connection: Connection;
  /** For `changes`, whose snapshot may last over many statements. */
  readonly #changesConnection: Connection;
  /** The session that last told changes. */
  #told: Session | undefined;
  #lastChanges: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection, changesConnection: Connection) {
    this.#connection = connection;
    this.#changesConnection = changesConnection;
  }

  /** Store.changes. One after another, since a connection has one snapshot at a time. */
  changes(since: Moment | undefined, visit: Visit): Promise<Moment | undefined> {
    const run = () => this.#changes(since, visit);
    const result = this.#lastChanges.then(run, run);
    this.#lastChanges = result;
    return result;
  }

  async #changes(since: Moment | undefined, visit: Visit): Promise<Moment | undefined> {
    const session = await this.#changesConnection.session();
    // Behind a new connection there may be a server that took the place of the one before, and has
    // not all that was seen there.
    if (since !== undefined && this.#told !== undefined && this.#told !== session) return undefined;
    const moment =
      since === undefined
        ? await readInOneSnapshot(session, undefined, visit)
        : await readFewChanges(session, since, visit);
    if (moment !== undefined) this.#told = session;
    return moment;
  }

  /** When the changes under way have been told. */
  async idle(): Promise<void> {
    await this.#lastChanges.catch(() => {});
  }

  async find(ids: readonly OrderId[]): Promise<Order[]> {
    const rows = await this.#query(SQL.find, [arrayOf(ids)]);
    const orders = new Map(rows.map(orderFromRow).map((order) => [order.id, order]));
    return ids.flatMap((id) => orders.get(id) ?? []);
  }

  async history(id: OrderId): Promise<OrderEvent[]> {
    const rows = await this.#query(SQL.history, [id]);
    return rows.map(([revision, type, at, by]) => ({
      revision: BigInt(revision!),
      type: type as OrderEvent['type'],
      at: Number(at),
      by: by ?? undefined,
    }));
  }

  async pet(id: bigint): Promise<Pet | undefined> {
    const [row] = await this.#query(SQL.pet, [id]);
    if (row === undefined) return undefined;
    return { id: BigInt(row[0]!), name: row[1] ?? undefined, tag: row[2] ?? undefined };
  }

  async keys(digests?: readonly Uint8Array[]): Promise<ApiKey[]> {
    const rows =
      digests === undefined
        ? await this.#query(SQL.keys)
        : await this.#query(SQL.keysByDigest, [byteaArray(digests)]);
    return rows.map(keyFromRow);
  }

  async status(): Promise<StoreStatus> {
    const [row] = await this.#query(SQL.status);
    return statusFromRow(present(row));
  }

  async #query(statement: (typeof SQL)[keyof typeof SQL], values: unknown[] = []): Promise<Row[]> {
    return (await this.#connection.session()).query(statement, values);
  }
}

/** One round trip for what is nearly always the case: nothing has changed, or not much. */
async function readFewChanges(
  session: Session,
  since: Moment,
  visit: Visit,
): Promise<Moment | undefined> {
  const rows = await session.query(CHANGES, [since.revision]);
  const [storeId, revision] = present(rows[0]);
  const moment = { storeId: storeId!, revision: BigInt(revision!) };
  if (moment.storeId !== since.storeId || moment.revision < since.revision) return undefined;
  if (rows.length > BATCH) return readInOneSnapshot(session, since, visit);
  // Where nothing has changed there is one row, with no order.
  const orders = rows.filter((row) => row[2] !== null).map((row) => orderFromRow(row.slice(2)));
  if (orders.length > 0) visit(orders.sort(byId));
  return moment;
}

/** All orders, or those changed since a moment, batch by batch. */
async function readInOneSnapshot(
  session: Session,
  since: Moment | undefined,
  visit: Visit,
): Promise<Moment | undefined> {
  try {
    const query = since === undefined ? SQL_ALL : changedSince(since);
    const begun = Promise.all([
      session.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' }),
      session.query({ text: 'SELECT id, revision FROM store' }),
      session.query({ text: `DECLARE found NO SCROLL CURSOR FOR ${query}` }),
    ]);
    const first = session.query(FETCH);
    const [, [row]] = await begun.finally(() => first.catch(() => {}));
    const [storeId, revision] = present(row);
    if (since !== undefined && (storeId !== since.storeId || BigInt(revision!) < since.revision)) {
      await session.query({ text: 'COMMIT' });
      return undefined;
    }
    await visitFetched(session, first, (orders) => {
      visit(since === undefined ? orders : [...orders].sort(byId));
    });
    await session.query({ text: 'COMMIT' });
    return { storeId: storeId!, revision: BigInt(revision!) };
  } catch (error) {
    session.destroy();
    throw error;
  }
}

/** One batch is fetched while the one before is worked on, and other work gets a turn between two. */
async function visitFetched(
  session: Session,
  first: Promise<Row[]>,
  visit: (orders: readonly Order[]) => void | Promise<void>,
): Promise<void> {
  for (let next: Promise<Row[]> | undefined = first; next !== undefined; ) {
    const rows: Row[] = await next;
    next = rows.length < BATCH ? undefined : session.query(FETCH);
    // It is awaited in the next round; until then its failure is no unhandled one.
    next?.catch(() => {});
    if (rows.length > 0) await visit(rows.map(orderFromRow));
    await nextTurn();
  }
}

/** Store.scan, on a session of its own: it lasts as long as its visitor takes. */
export async function scan(
  session: Session,
  visit: (orders: readonly Order[]) => Promise<void>,
): Promise<void> {
  await session.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
  await session.query({
    text: `DECLARE found NO SCROLL CURSOR FOR SELECT ${ORDER_COLUMNS} FROM orders ORDER BY id`,
  });
  await visitFetched(session, session.query(FETCH), visit);
}

function byId(a: Order, b: Order): number {
  return a.id < b.id ? -1 : 1;
}

/** The row of the table store. While a copy into the database is under way there is none. */
function present(row: Row | undefined): Row {
  if (row === undefined) throw copyNotComplete();
  return row;
}

const SQL = {
  status: {
    name: 'status',
    text: 'SELECT id, revision, pending, shipped, cancelled FROM store',
  },
  find: {
    name: 'find',
    text: `SELECT ${ORDER_COLUMNS} FROM orders WHERE id = ANY ($1::bigint[])`,
  },
  history: {
    name: 'history',
    text: `SELECT revision, type, at, by FROM order_events WHERE order_id = $1
      ORDER BY revision, at, type = 'placed' DESC`,
  },
  pet: { name: 'pet', text: 'SELECT id, name, tag FROM pets WHERE id = $1' },
  keys: {
    name: 'keys',
    text: `SELECT ${KEY_COLUMNS} FROM api_keys ORDER BY created_at, id COLLATE "C"`,
  },
  keysByDigest: {
    name: 'keysByDigest',
    text: `SELECT ${KEY_COLUMNS} FROM api_keys WHERE digest = ANY ($1::bytea[])`,
  },
} as const;

/** With the limit the planner takes the index whatever it believes of the number of changes. */
const CHANGES = {
  name: 'changes',
  text: `SELECT store.id, store.revision, changed.*
    FROM store LEFT JOIN LATERAL (SELECT ${ORDER_COLUMNS} FROM orders
      WHERE orders.revision > $1 ORDER BY orders.revision LIMIT ${BATCH + 1}) AS changed ON true`,
} as const;

const SQL_ALL = `SELECT ${ORDER_COLUMNS} FROM orders WHERE status <> 'cancelled' ORDER BY id`;

/** A cursor takes no parameters; a revision is a bigint, so digits are all there can be. */
function changedSince({ revision }: Moment): string {
  return `SELECT ${ORDER_COLUMNS} FROM orders WHERE revision > ${revision} ORDER BY revision`;
}

const FETCH = { text: `FETCH ${BATCH} FROM found` } as const;
