import { Mutex } from '../../concurrency/mutex.ts';
import type { Moment } from '../../listing/listing.ts';
import { byId, type Order } from '../../orders/order.ts';
import { ORDER_COLUMNS, orderFromRow } from '../tables/orders.ts';
import type { Connection } from './database/connection.ts';
import { BEGIN_SNAPSHOT, type Session } from './database/session.ts';
import { KnownMoments, MOMENT_COLUMNS, momentOf, WITNESS } from './moments.ts';
import { BATCH, FETCH, visitFetched } from './scan.ts';

type Visit = (orders: readonly Order[]) => void;

/** See Store.changes. Has a connection of its own, since its snapshot can span many statements. */
export class Changes {
  readonly #connection: Connection;
  readonly #mutex = new Mutex();
  readonly #moments = new KnownMoments();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Calls are serialized, since a connection has one snapshot at a time. */
  read(since: Moment | undefined, visit: Visit): Promise<Moment | undefined> {
    return this.#mutex.run(async () => {
      const session = await this.#connection.session();
      return since === undefined
        ? readInOneSnapshot(session, undefined, visit, this.#moments)
        : readFewChanges(session, since, visit, this.#moments);
    });
  }

  /** Waits for pending calls, then closes the connection. */
  async close(): Promise<void> {
    await this.#mutex.idle();
    await this.#connection.close();
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
    const begun = Promise.all([
      session.run(BEGIN_SNAPSHOT),
      session.query(MOMENT, [since?.revision ?? -1n]),
      since === undefined
        ? session.query(DECLARE_ALL)
        : session.query(DECLARE_CHANGED, [since.revision]),
      session.query(FETCH),
    ]);
    const [, [row], , first] = await begun;
    const { moment, witness } = momentOf(session, row);
    const isSameStore = since === undefined || since.storeId === moment.storeId;
    if (isSameStore) {
      await visitFetched(session, first, (orders) => {
        visit(since === undefined ? orders : [...orders].sort(byId));
      });
    }
    await session.run('COMMIT');
    return isSameStore ? moments.add(moment, { session, witness }) : undefined;
  } catch (error) {
    session.destroy();
    throw error;
  }
}

const MOMENT = `SELECT witness.*, ${MOMENT_COLUMNS} FROM store ${WITNESS}`;

/** The limit makes the planner use the index, whatever number of changes it estimates. */
const CHANGES = `SELECT changed.*, witness.*, ${MOMENT_COLUMNS}
    FROM store ${WITNESS} LEFT JOIN LATERAL (SELECT ${ORDER_COLUMNS} FROM orders
      WHERE orders.revision > $1 ORDER BY orders.revision LIMIT ${BATCH + 1}) AS changed ON true`;

const DECLARE_ALL = `DECLARE found NO SCROLL CURSOR FOR
    SELECT ${ORDER_COLUMNS} FROM orders WHERE status <> 'cancelled' ORDER BY id`;

const DECLARE_CHANGED = `DECLARE found NO SCROLL CURSOR FOR
    SELECT ${ORDER_COLUMNS} FROM orders WHERE revision > $1 ORDER BY revision`;
