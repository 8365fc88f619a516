import { DatabaseSync, type StatementSync } from 'node:sqlite';

/**
 * Records ids and their positions, in a temporary SQLite database that spills to disk as it grows: a file can have
 * any number of rows.
 */
export class SeenIds {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #find: StatementSync;

  constructor() {
    // Even an INSERT returns an id: lastInsertRowid.
    this.#db = new DatabaseSync('', { readBigInts: true });
    this.#db.exec('CREATE TABLE seen (id INTEGER PRIMARY KEY, at TEXT) STRICT; BEGIN');
    this.#insert = this.#db.prepare('INSERT INTO seen VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#find = this.#db.prepare('SELECT at FROM seen WHERE id = ?');
  }

  /** Records that `id` occurs at `at`; if it was recorded before, returns the problem instead. */
  add(id: bigint, at: string): string | undefined {
    if (this.#insert.run(id, at).changes === 1n) return undefined;
    return `repeats the id ${id} of ${this.#find.get(id)?.at}`;
  }

  close(): void {
    this.#db.close();
  }
}
