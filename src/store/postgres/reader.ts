import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApiKey } from '../../keys/api-key.ts';
import type { Moment } from '../../listing/listing.ts';
import { byId, INT64_MIN, type Order, type OrderId } from '../../orders/order.ts';
import type { Pet } from '../../pets/pet.ts';
import { Sequence } from '../sequence.ts';
import type { OrderEvent, ScanVisit, StoreStatus } from '../store.ts';
import { readOrders } from './change-orders.ts';
import type { Connection } from './connection.ts';
import { KnownMoments, MOMENT_COLUMNS, momentOf, WITNESS } from './moments.ts';
import {
  byteaArray,
  KEY_COLUMNS,
  keyFromRow,
  ORDER_COLUMNS,
  orderFromRow,
  type Row,
} from './rows.ts';
import { BEGIN_SNAPSHOT, type Session } from './session.ts';
import { present, readStatus } from './store-row.ts';

/** Orders per batch; bounds memory and how long the event loop is blocked. */
const BATCH = 2_000;

type Visit = (orders: readonly Order[]) => void;

/** The read half of the PostgreSQL engine. */
export class Reader {
  /** Shared by single statements. */
  readonly #connection: Connection;
  /** For `changes`, whose snapshot can span many statements. */
  readonly #changesConnection: Connection;
  readonly #changesInTurn = new Sequence();
  readonly #moments = new KnownMoments();

  constructor(connection: Connection, changesConnection: Connection) {
    this.#connection = connection;
    this.#changesConnection = changesConnection;
  }

  /** See Store.changes. Calls are serialized, since a connection has one snapshot at a time. */
  changes(since: Moment | undefined, visit: Visit): Promise<Moment | undefined> {
    return this.#changesInTurn.run(() => this.#changes(since, visit));
  }

  async #changes(since: Moment | undefined, visit: Visit): Promise<Moment | undefined> {
    const session = await this.#changesConnection.session();
    return since === undefined
      ? readInOneSnapshot(session, undefined, visit, this.#moments)
      : readFewChanges(session, since, visit, this.#moments);
  }

  /** Resolves when pending calls of `changes` have ended. */
  idle(): Promise<void> {
    return this.#changesInTurn.idle();
  }

  async find(ids: readonly OrderId[]): Promise<Order[]> {
    const found = await readOrders(await this.#connection.session(), ids);
    const orders = new Map(found.orders.map((order) => [order.id, order]));
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
    return present(await readStatus(await this.#connection.session()));
  }

  async #query(statement: (typeof SQL)[keyof typeof SQL], values: unknown[] = []): Promise<Row[]> {
    return (await this.#connection.session()).query(statement, values);
  }
}

/** Reads changes in one round trip: in most cases there are none or few. */
async function readFewChanges(
  session: Session,
  since: Moment,
  visit: Visit,
  moments: KnownMoments,
): Promise<Moment | undefined> {
  const rows = await session.query(CHANGES, [since.revision]);
  const { moment, witness } = momentOf(session, rows[0]);
  if (!(await moments.isPast(session, since, moment))) return undefined;
  if (since.revision === moment.revision) return since;
  if (rows.length > BATCH) return readInOneSnapshot(session, since, visit, moments);
  const orders = rows.filter(([id]) => id !== null).map(orderFromRow);
  if (orders.length > 0) visit(orders.sort(byId));
  return moments.add(moment, { session, witness });
}

/** Visits all orders, or those changed since a moment, batch by batch. */
async function readInOneSnapshot(
  session: Session,
  since: Moment | undefined,
  visit: Visit,
  moments: KnownMoments,
): Promise<Moment | undefined> {
  try {
    const query = since === undefined ? ALL : changedSince(since);
    const begun = Promise.all([
      session.query(BEGIN_SNAPSHOT),
      session.query(MOMENT, [since?.revision ?? -1n]),
      session.query({ text: `DECLARE found NO SCROLL CURSOR FOR ${query}` }),
      session.query(FETCH),
    ]);
    const [, [row], , first] = await begun;
    const { moment, witness } = momentOf(session, row);
    const isTold = since === undefined || since.storeId === moment.storeId;
    if (isTold) {
      await visitFetched(session, first, (orders) => {
        visit(since === undefined ? orders : [...orders].sort(byId));
      });
    }
    await session.query({ text: 'COMMIT' });
    return isTold ? moments.add(moment, { session, witness }) : undefined;
  } catch (error) {
    session.destroy();
    throw error;
  }
}

/** Fetches each batch while the previous one is processed; yields to the event loop after each. */
async function visitFetched(
  session: Session,
  first: readonly Row[],
  visit: (orders: readonly Order[]) => unknown,
): Promise<void> {
  for (let rows = first; rows.length > 0; ) {
    const next = rows.length < BATCH ? [] : session.query(FETCH);
    // Awaited below; the empty handler prevents an unhandled rejection until then.
    if (next instanceof Promise) next.catch(() => {});
    if ((await visit(rows.map(orderFromRow))) === false) return;
    await nextTurn();
    rows = await next;
  }
}

/** See Store.scan. Needs a session of its own, since it lasts as long as the visitor takes. */
export async function scan(
  session: Session,
  visit: ScanVisit,
  from: OrderId = INT64_MIN,
): Promise<void> {
  await session.query(BEGIN_SNAPSHOT);
  await session.query({
    text: `DECLARE found NO SCROLL CURSOR FOR SELECT ${ORDER_COLUMNS} FROM orders WHERE id >= ${from} ORDER BY id`,
  });
  await visitFetched(session, await session.query(FETCH), visit);
}

const SQL = {
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

const MOMENT = {
  name: 'moment',
  text: `SELECT witness.*, ${MOMENT_COLUMNS} FROM store ${WITNESS}`,
} as const;

/** The limit makes the planner use the index, whatever number of changes it estimates. */
const CHANGES = {
  name: 'changes',
  text: `SELECT changed.*, witness.*, ${MOMENT_COLUMNS}
    FROM store ${WITNESS} LEFT JOIN LATERAL (SELECT ${ORDER_COLUMNS} FROM orders
      WHERE orders.revision > $1 ORDER BY orders.revision LIMIT ${BATCH + 1}) AS changed ON true`,
} as const;

const ALL = `SELECT ${ORDER_COLUMNS} FROM orders WHERE status <> 'cancelled' ORDER BY id`;

/** The revision is inlined because a cursor takes no parameters; as a bigint it consists of digits only. */
function changedSince({ revision }: Moment): string {
  return `SELECT ${ORDER_COLUMNS} FROM orders WHERE revision > ${revision} ORDER BY revision`;
}

const FETCH = { text: `FETCH ${BATCH} FROM found` } as const;
