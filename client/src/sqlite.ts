import type { OrderRecord } from './records.ts';
import type { ReplicaPosition, ReplicaStore } from './replica.ts';

/** What a replica needs of a database; DatabaseSync of node:sqlite is one. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

interface SqliteStatement {
  run(...values: (string | bigint | null)[]): unknown;
  get(...values: (string | bigint | null)[]): unknown;
  setReadBigInts(enabled: boolean): unknown;
}

const COLUMNS = `
  id INTEGER PRIMARY KEY,
  pet_id INTEGER,
  quantity INTEGER,
  ship_date TEXT,
  complete INTEGER,
  status TEXT NOT NULL,
  placed_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  revision INTEGER NOT NULL`;

/**
 * A replica in a SQLite database: the table `orders` has the orders of the store, times as RFC 3339 in UTC. It changes
 * with each call of `apply`, in one transaction with the position of the replica. While a new copy is made, `orders` keeps
 * the one before, and `orders_next` gathers the new one. Read ids as bigint (`setReadBigInts`).
 */
export class SqliteReplica implements ReplicaStore {
  readonly #database: SqliteDatabase;

  /** @param database that nothing else writes `orders`, `orders_next` and `replica` of; not in a transaction */
  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#inTransaction(() => {
      database.exec(`CREATE TABLE IF NOT EXISTS orders (${COLUMNS});
        CREATE TABLE IF NOT EXISTS replica (
          only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
          cursor TEXT,
          revision INTEGER
        );
        INSERT OR IGNORE INTO replica VALUES (1, NULL, NULL);`);
    });
  }

  load(): ReplicaPosition | undefined {
    const { cursor, revision } = this.#prepare('SELECT cursor, revision FROM replica').get() as {
      readonly cursor: string | null;
      readonly revision: bigint | null;
    };
    return cursor === null ? undefined : { cursor, revision: revision! };
  }

  reset(): void {
    this.#inTransaction(() => {
      this.#database.exec(`DROP TABLE IF EXISTS orders_next;
        CREATE TABLE orders_next (${COLUMNS});
        UPDATE replica SET cursor = NULL, revision = NULL;`);
    });
  }

  apply(orders: readonly OrderRecord[], position: ReplicaPosition | undefined): void {
    this.#inTransaction(() => {
      const isNew = this.load() === undefined;
      this.#write(isNew ? 'orders_next' : 'orders', orders);
      if (position === undefined) return;
      if (isNew) {
        // The table stays, with the indexes and triggers that it may have.
        this.#database.exec(`DELETE FROM orders;
          INSERT INTO orders SELECT * FROM orders_next;
          DROP TABLE orders_next;`);
      }
      const move = this.#prepare('UPDATE replica SET cursor = ?, revision = ?');
      move.run(position.cursor, position.revision);
    });
  }

  #write(table: string, orders: readonly OrderRecord[]): void {
    const statement = this.#prepare(
      `INSERT OR REPLACE INTO ${table} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    for (const order of orders) {
      const { id, petId, quantity, shipDate, complete, status, placedAt, updatedAt } = order;
      const completed = complete === undefined ? null : BigInt(complete);
      statement.run(
        ...[id, petId ?? null, quantity ?? null, shipDate ?? null, completed],
        ...[status, placedAt, updatedAt, order.revision],
      );
    }
  }

  /** With bigint, also for the last id that `run` returns. */
  #prepare(sql: string): SqliteStatement {
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  }

  #inTransaction(write: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      write();
      this.#database.exec('COMMIT');
    } catch (error) {
      // A COMMIT that failed may have ended the transaction.
      try {
        this.#database.exec('ROLLBACK');
      } catch {}
      throw error;
    }
  }
}
