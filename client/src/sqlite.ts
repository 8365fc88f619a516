import type { OrderRecord } from '../../protocol/generated/records.ts';
import { randomHex } from './arguments.ts';
import type { ReplicaPosition, ReplicaStore } from './feed/replica.ts';

/** The part of a database that a replica needs; DatabaseSync of node:sqlite conforms to it. */
interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

interface SqliteStatement {
  run(...values: (string | bigint | null)[]): unknown;
  get(...values: (string | bigint | null)[]): unknown;
  setReadBigInts(enabled: boolean): unknown;
}

/** The one row of the table replica. */
interface ReplicaRow {
  readonly cursor: string | null;
  readonly revision: bigint | null;
  /** Names the process that keeps the replica. */
  readonly run: string;
}

/** How long a step waits for readers in other processes. In WAL mode they do not block it. */
const BUSY_MS = 5_000;

const COLUMNS = `
  id INTEGER PRIMARY KEY,
  pet_id INTEGER,
  quantity INTEGER,
  ship_date TEXT,
  complete INTEGER,
  status TEXT NOT NULL,
  placed_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  revision INTEGER NOT NULL,
  reference TEXT,
  reason TEXT,
  tracking_number TEXT,
  etag TEXT`;

/** Added columns are the last ones of a replica, whichever they are. */
const NAMES = `id, pet_id, quantity, ship_date, complete, status, placed_at, updated_at, revision, reference, reason,
  tracking_number, etag`;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS orders (${COLUMNS});
  CREATE TABLE IF NOT EXISTS replica (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    cursor TEXT,
    revision INTEGER,
    run TEXT NOT NULL
  );
  INSERT OR IGNORE INTO replica VALUES (1, NULL, NULL, '');`;

/** Columns that replicas made by earlier releases do not have, in their order; a replica that gets one copies its orders again. */
const ADDED = ['reference', 'reason', 'tracking_number', 'etag'];
const HAS_COLUMN = `SELECT 1 FROM pragma_table_info('orders') WHERE name = ?`;

/**
 * A replica in a SQLite database: the table `orders` has the orders of the store, times as RFC 3339 in UTC. It changes
 * with each call of `apply`, in one transaction with the position of the replica. While a new copy is made, `orders` keeps
 * the previous copy, and `orders_next` collects the new one. Read ids as bigint (`setReadBigInts`).
 *
 * Only one process at a time maintains a replica: the one that started last. A step in any other process fails and changes
 * nothing.
 */
export class SqliteReplica implements ReplicaStore {
  readonly #database: SqliteDatabase;
  readonly #run = randomHex(8);

  /** @param database not in a transaction; nothing else may write its tables `orders`, `orders_next` and `replica` */
  constructor(database: SqliteDatabase) {
    this.#database = database;
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    this.#inTransaction(() => {
      database.exec(SCHEMA);
      for (const name of ADDED) {
        if (this.#prepare(HAS_COLUMN).get(name) !== undefined) continue;
        database.exec(`ALTER TABLE orders ADD COLUMN ${name} TEXT;
          UPDATE replica SET cursor = NULL, revision = NULL;`);
      }
    });
  }

  load(): ReplicaPosition | undefined {
    return this.#inTransaction(() => {
      this.#prepare('UPDATE replica SET run = ?').run(this.#run);
      return this.#position();
    });
  }

  reset(): void {
    this.#inTransaction(() => {
      this.#position();
      this.#database.exec(`DROP TABLE IF EXISTS orders_next;
        CREATE TABLE orders_next (${COLUMNS});
        UPDATE replica SET cursor = NULL, revision = NULL;`);
    });
  }

  apply(orders: readonly OrderRecord[], position: ReplicaPosition | undefined): void {
    this.#inTransaction(() => {
      const isNew = this.#position() === undefined;
      this.#write(isNew ? 'orders_next' : 'orders', orders);
      if (position === undefined) return;
      if (isNew) {
        // The table is kept, since users may have added indexes and triggers.
        this.#database.exec(`DELETE FROM orders;
          INSERT INTO orders (${NAMES}) SELECT ${NAMES} FROM orders_next;
          DROP TABLE orders_next;`);
      }
      const move = this.#prepare('UPDATE replica SET cursor = ?, revision = ?');
      move.run(position.cursor, position.revision);
    });
  }

  /** @throws Error if another process maintains this replica */
  #position(): ReplicaPosition | undefined {
    const row = this.#prepare('SELECT cursor, revision, run FROM replica').get() as ReplicaRow;
    if (row.run !== this.#run) throw new Error('another process has taken over this replica');
    return row.cursor === null ? undefined : { cursor: row.cursor, revision: row.revision! };
  }

  #write(table: string, orders: readonly OrderRecord[]): void {
    // A later change does not prove when the order was placed.
    const placed = `coalesce((SELECT placed_at FROM ${table} WHERE id = ?1), ?7)`;
    const statement = this.#prepare(
      `INSERT OR REPLACE INTO ${table} (${NAMES}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ${placed}, ?8, ?9, ?10, ?11, ?12, ?13)`,
    );
    for (const order of orders) {
      const { id, petId, quantity, shipDate, complete, status, placedAt, updatedAt } = order;
      const completed = complete === undefined ? null : BigInt(complete);
      statement.run(
        ...[id, petId ?? null, quantity ?? null, shipDate ?? null, completed],
        ...[status, placedAt, updatedAt, order.revision, order.reference ?? null],
        ...[order.reason ?? null, order.trackingNumber ?? null, order.etag],
      );
    }
  }

  /** With bigint, also for the last id that `run` returns. */
  #prepare(sql: string): SqliteStatement {
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  }

  #inTransaction<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      // A COMMIT that failed may have ended the transaction.
      try {
        this.#database.exec('ROLLBACK');
      } catch {}
      throw error;
    }
  }
}
