import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApiKey } from '../../keys/api-key.ts';
import type { Moment } from '../../listing/listing.ts';
import { byId, INT64_MAX, INT64_MIN, type Order, type OrderId } from '../../orders/order.ts';
import type { Pet } from '../../pets/pet.ts';
import { Sequence } from '../sequence.ts';
import { type OrderEvent, type ScanVisit, StoreNotUsable, type StoreStatus } from '../store.ts';
import { COPY_NOT_COMPLETE, expectNotMovedAway } from '../tables.ts';
import { type Location, openForReading } from './connection.ts';
import {
  findOrders,
  KEY_COLUMNS,
  keyFromRow,
  LATEST_AT,
  ORDER_COLUMNS,
  ORDERS_BY_ID,
  orderFromRow,
  type Row,
  STATUS_COLUMNS,
  statusFromRow,
} from './rows.ts';
import { expectVersion } from './schema.ts';

/** Orders per page; bounds memory, and how long the event loop is blocked (about a millisecond). */
const PAGE = 512;

/**
 * The read half of the SQLite engine. Reads run on the caller's thread: they wait for no lock and mostly find their
 * pages in memory, so handing them to another thread would cost more than most reads.
 */
export class Reader {
  readonly #location: Location;
  /** For single statements, each with its own snapshot. */
  readonly #db: DatabaseSync;
  /** For `changes`, whose snapshot can span many turns of the event loop. */
  readonly #changesDb: DatabaseSync;
  readonly #statements: Record<keyof typeof SQL, StatementSync>;
  readonly #changesStatements: Record<keyof typeof CHANGES_SQL, StatementSync>;
  readonly #changesInTurn = new Sequence();

  constructor(location: Location) {
    this.#location = location;
    this.#db = openForReading(location);
    this.#changesDb = openForReading(location);
    this.#statements = prepareAll(this.#db, SQL);
    this.#changesStatements = prepareAll(this.#changesDb, CHANGES_SQL);
    if (this.#statements.status.get() !== undefined) return;
    this.#changesDb.close();
    this.#db.close();
    throw new StoreNotUsable(COPY_NOT_COMPLETE);
  }

  /** See Store.changes. Calls are serialized, since a connection has one snapshot at a time. */
  changes(
    since: Moment | undefined,
    visit: (orders: readonly Order[]) => void,
  ): Promise<Moment | undefined> {
    return this.#changesInTurn.run(() => this.#readChanges(since, visit));
  }

  async #readChanges(
    since: Moment | undefined,
    visit: (orders: readonly Order[]) => void,
  ): Promise<Moment | undefined> {
    const { all, changed } = this.#changesStatements;
    const isPast = (moment: Moment) =>
      since === undefined ||
      (since.storeId === moment.storeId && since.revision <= moment.revision);
    const now = this.#moment();
    if (!isPast(now)) return undefined;
    if (since?.revision === now.revision) return since.mark === now.mark ? since : undefined;

    this.#changesDb.exec('BEGIN');
    try {
      const moment = this.#moment();
      if (!isPast(moment)) return undefined;
      if (since === undefined) await visitPages(pagesById(all), visit);
      else {
        await visitPages(pagesByRevision(changed, since.revision), (orders) =>
          visit(orders.toSorted(byId)),
        );
      }
      return moment;
    } finally {
      this.#changesDb.exec('COMMIT');
    }
  }

  /**
   * Returns the current moment.
   * @throws StoreUnavailable if another release has migrated the database, or the store was moved to another database
   */
  #moment(): Moment {
    const row = this.#changesStatements.moment.get();
    const [storeId, revision, mark, version, movedTo] = row as unknown as [
      ...[string, bigint, bigint, bigint],
      string | null,
    ];
    expectVersion(version);
    expectNotMovedAway(movedTo);
    return { storeId, revision, mark };
  }

  find(ids: readonly OrderId[]): Order[] {
    return findOrders(this.#statements.orders, ids);
  }

  history(id: OrderId): OrderEvent[] {
    return this.#statements.history.all(id).map((row) => {
      const [revision, type, at, by] = row as unknown as Row;
      return {
        revision: revision as bigint,
        type: type as OrderEvent['type'],
        at: Number(at),
        by: (by ?? undefined) as string | undefined,
      };
    });
  }

  /** See Store.scan. Uses a connection of its own, since it lasts as long as the visitor takes. */
  async scan(visit: ScanVisit, from: OrderId = INT64_MIN): Promise<void> {
    const db = openForReading(this.#location);
    try {
      const { all } = prepareAll(db, { all: pageById('true') });
      db.exec('BEGIN');
      await visitPages(pagesById(all, from), visit);
    } finally {
      db.close();
    }
  }

  pet(id: bigint): Pet | undefined {
    const row = this.#statements.pet.get(id) as unknown as [bigint, string | null, string | null];
    if (row === undefined) return undefined;
    return { id: row[0], name: row[1] ?? undefined, tag: row[2] ?? undefined };
  }

  keys(digests?: readonly Uint8Array[]): ApiKey[] {
    const rows = digests === undefined ? this.#statements.keys.all() : this.#keyRows(digests);
    return rows.map((row) => keyFromRow(row as unknown as Row));
  }

  /** Looks up all keys in one transaction: starting one is most of the cost of a lookup. */
  #keyRows(digests: readonly Uint8Array[]) {
    this.#db.exec('BEGIN');
    try {
      return digests.flatMap((digest) => this.#statements.keyByDigest.all(digest));
    } finally {
      this.#db.exec('COMMIT');
    }
  }

  status(): StoreStatus {
    return statusFromRow(this.#statements.status.get() as unknown as Row);
  }

  async close(): Promise<void> {
    await this.#changesInTurn.idle();
    this.#changesDb.close();
    this.#db.close();
  }
}

/** Visits orders page by page, yielding to the event loop between pages. */
async function visitPages(
  pages: Iterable<readonly Row[]>,
  visit: (orders: readonly Order[]) => unknown,
): Promise<void> {
  for (const rows of pages) {
    if ((await visit(rows.map(orderFromRow))) === false) return;
    // A page that is not full is the last.
    if (rows.length === PAGE) await nextTurn();
  }
}

/** Returns the query for `pagesById`: the next orders from an id on. */
function pageById(condition: string): string {
  return `SELECT ${ORDER_COLUMNS} FROM orders WHERE id >= ? AND ${condition} ORDER BY id LIMIT ${PAGE}`;
}

/** Reads pages by id. Takes two thirds of the time of iterating row by row. */
function* pagesById(page: StatementSync, lowest = INT64_MIN): Iterable<readonly Row[]> {
  let from = lowest;
  for (;;) {
    const rows = page.all(from) as unknown as readonly Row[];
    const last = rows.at(-1)?.[0];
    if (last !== undefined) yield rows;
    if (rows.length < PAGE || last === INT64_MAX) return;
    from = (last as bigint) + 1n;
  }
}

/** Reads the orders changed after a revision, in the order of their latest events. */
function* pagesByRevision(page: StatementSync, since: bigint): Iterable<readonly Row[]> {
  let after = [since, INT64_MAX] as const;
  for (;;) {
    const rows = page.all(...after) as unknown as readonly Row[];
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    const [id, , , , , , revision] = rows.at(-1)!;
    after = [revision as bigint, id as bigint];
  }
}

function prepareAll<Name extends string>(
  db: DatabaseSync,
  sql: Record<Name, string>,
): Record<Name, StatementSync> {
  const entries = Object.entries<string>(sql).map(([name, text]) => [name, db.prepare(text)]);
  return Object.fromEntries(entries);
}

const SQL = {
  status: `SELECT ${STATUS_COLUMNS}, ${LATEST_AT} FROM store`,
  orders: ORDERS_BY_ID,
  history: `WITH RECURSIVE revisions (revision) AS (
      SELECT revision FROM orders WHERE id = ?1
      UNION
      SELECT previous FROM revisions CROSS JOIN order_events USING (revision) WHERE order_id = ?1)
    SELECT revision, type, at, by FROM revisions CROSS JOIN order_events USING (revision)
    WHERE order_id = ?1 ORDER BY revision, at, type = 'placed' DESC`,
  pet: 'SELECT id, name, tag FROM pets WHERE id = ?',
  keys: `SELECT ${KEY_COLUMNS} FROM api_keys ORDER BY created_at, id`,
  keyByDigest: `SELECT ${KEY_COLUMNS} FROM api_keys WHERE digest = ?`,
} as const;

const CHANGES_SQL = {
  moment:
    'SELECT id, revision, mark, (SELECT user_version FROM pragma_user_version), moved_to FROM store',
  all: pageById("status <> 'cancelled'"),
  // Ordered by event, each order at its latest event: ordered by id, SQLite would read all orders, or block for a
  // long sort. GROUP BY, since an order placed and cancelled in one revision has two events in it.
  changed: `SELECT ${ORDER_COLUMNS}, orders.revision FROM order_events AS event
    CROSS JOIN orders ON orders.id = event.order_id AND orders.revision = event.revision
    WHERE (event.revision, event.order_id) > (?, ?) GROUP BY event.revision, event.order_id
    ORDER BY event.revision, event.order_id LIMIT ${PAGE}`,
} as const;
