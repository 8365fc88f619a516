import { randomUUID } from 'node:crypto';

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

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS orders (${COLUMNS});
  CREATE TABLE IF NOT EXISTS replica (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    cursor TEXT,
    revision INTEGER,
    run TEXT NOT NULL
  );
  INSERT OR IGNORE INTO replica VALUES (1, NULL, NULL, '');`;

/**
 * A replica in an SQLite database (node:sqlite): the table `orders` has the orders of the store, times as RFC 3339 in UTC. It changes
 * with each call of `apply`, in one transaction with the position of the replica. While a new copy is made, `orders` keeps
 * the previous copy, and `orders_next` collects the new one. Read ids as bigint (`setReadBigInts`).
 *
 * Only one process at a time maintains a replica: the one that started last. A step in any other process fails and changes nothing.
 *
 * @implements {import('@store-orders/client').ReplicaStore}
 */
export class SqliteReplica {
  #database;
  #run = randomUUID();

  /** @param {import('node:sqlite').DatabaseSync} database whose tables `orders`, `orders_next` and `replica` nothing else writes */
  constructor(database) {
    this.#database = database;
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    this.#inTransaction(() => database.exec(SCHEMA));
  }

  load() {
    return this.#inTransaction(() => {
      this.#prepare('UPDATE replica SET run = ?').run(this.#run);
      return this.#position();
    });
  }

  reset() {
    this.#inTransaction(() => {
      this.#position();
      this.#database.exec(`DROP TABLE IF EXISTS orders_next;
        CREATE TABLE orders_next (${COLUMNS});
        UPDATE replica SET cursor = NULL, revision = NULL;`);
    });
  }

  /**
   * @param {readonly import('@store-orders/client').OrderRecord[]} orders
   * @param {import('@store-orders/client').ReplicaPosition | undefined} position
   */
  apply(orders, position) {
    this.#inTransaction(() => {
      const isNew = this.#position() === undefined;
      this.#write(isNew ? 'orders_next' : 'orders', orders);
      if (position === undefined) return;
      if (isNew) {
        // The table is kept, since it may have got indexes and triggers.
        this.#database.exec(`DELETE FROM orders;
          INSERT INTO orders SELECT * FROM orders_next;
          DROP TABLE orders_next;`);
      }
      const move = this.#prepare('UPDATE replica SET cursor = ?, revision = ?');
      move.run(position.cursor, position.revision);
    });
  }

  #position() {
    const row = this.#prepare('SELECT cursor, revision, run FROM replica').get();
    if (row.run !== this.#run) throw new Error('another process has taken over this replica');
    return row.cursor === null ? undefined : { cursor: row.cursor, revision: row.revision };
  }

  #write(table, orders) {
    // A later change does not prove when the order was placed.
    const placedAt = `coalesce((SELECT placed_at FROM ${table} WHERE id = ?1), ?7)`;
    const statement = this.#prepare(
      `INSERT OR REPLACE INTO ${table} VALUES (?1, ?2, ?3, ?4, ?5, ?6, ${placedAt}, ?8, ?9, ?10, ?11, ?12, ?13)`,
    );
    for (const order of orders) {
      const complete = order.complete === undefined ? null : BigInt(order.complete);
      statement.run(
        ...[order.id, order.petId ?? null, order.quantity ?? null, order.shipDate ?? null],
        ...[complete, order.status, order.placedAt, order.updatedAt, order.revision],
        ...[order.reference ?? null, order.reason ?? null, order.trackingNumber ?? null],
        order.etag,
      );
    }
  }

  #prepare(sql) {
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  }

  #inTransaction(work) {
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
