import { DatabaseSync } from 'node:sqlite';

/** Returns the number of pending orders of a SQLite database, read directly: faster than running a command. */
export function ordersIn(database: string): number {
  try {
    const db = new DatabaseSync(database.slice('sqlite:'.length), { readOnly: true });
    const { pending } = db.prepare('SELECT pending FROM store').get()!;
    db.close();
    return Number(pending);
  } catch {
    return 0; // The database is still being created.
  }
}
