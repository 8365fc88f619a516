import { DatabaseSync, type StatementSync } from 'node:sqlite';

/**
 * Remembers ids and where they stood. Kept in a temporary database of SQLite's, which moves to disk
 * as it grows: a file may have any number of rows.
 */
export class SeenIds {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #find: StatementSync;

  constructor() {
    // BigInts, because even an INSERT answers with the id it gave.
    this.#db = new DatabaseSync('', { readBigInts: true });
    this.#db.exec('CREATE TABLE seen (id INTEGER PRIMARY KEY, at TEXT) STRICT; BEGIN');
    this.#insert = this.#db.prepare('INSERT INTO seen VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#find = this.#db.prepare('SELECT at FROM seen WHERE id = ?');
  }

  /** Remembers that `id` stands at `at`, or says that it stood elsewhere before. */
  add(id: bigint, at: string): string | undefined {
    if (this.#insert.run(id, at).changes === 1n) return undefined;
    return `repeats the id ${id} of ${this.#find.get(id)?.at}`;
  }

  close(): void {
    this.#db.close();
  }
}
