import { existsSync } from 'node:fs';
import type { MigrationSteps } from '../../migration-steps.ts';
import { readableLocation, readDatabase } from '../database/connection.ts';
import { withOpenErrors } from '../database/errors.ts';
import { allMigrations, missingMigrations } from '../database/schema.ts';

/**
 * Returns what `migrate` would do with the database at `path` now. Writes nothing.
 * @throws StoreNotUsable
 */
export function planSqlite(path: string): MigrationSteps {
  const names = existsSync(path)
    ? withOpenErrors(path, () => readDatabase(readableLocation(path), missingMigrations))
    : allMigrations();
  const effects = [
    'holds the write lock until all migrations are done: changes wait or get 503, reads continue; takes about a second per million orders',
  ];
  return { steps: names.map((name) => ({ name, effects })), heldBy: [] };
}
