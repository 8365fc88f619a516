import type { DatabaseSync } from 'node:sqlite';
import type { Environment } from '../../../keys/api-key.ts';
import { schemaDifferences } from '../../expected-schema.ts';
import { StoreNotUsable } from '../../store.ts';
import {
  type Counters,
  compare,
  countsSql,
  type Findings,
  type SchemaVersion,
} from '../../tables/consistency.ts';
import { COPY_NOT_COMPLETE } from '../../tables/store-row.ts';
import { describeSchema } from '../database/catalog.ts';
import { readableLocation, readDatabase } from '../database/connection.ts';
import { isCorrupt, withOpenErrors } from '../database/errors.ts';
import { KNOWN_MIGRATIONS, missingMigrations } from '../database/schema.ts';

/** Maximum number of problems of the file that are listed; a damaged file can have any number. */
const MAX_NAMED = 20;

/**
 * Checks every page and every row of the database at `path`, of this release or an earlier one, in one snapshot.
 * Writes nothing. Takes some seconds for a million orders, and blocks the thread.
 * @throws StoreNotUsable if there is no store
 */
export function checkSqlite(path: string): Findings {
  return withOpenErrors(path, () =>
    readDatabase(readableLocation(path), (db) => {
      const schema = {
        has: KNOWN_MIGRATIONS - missingMigrations(db).length,
        knows: KNOWN_MIGRATIONS,
      };
      db.exec('BEGIN');
      const damage = damageOf(db);
      const differences = schema.has === schema.knows ? differencesOf(db) : [];
      const store = rowOf(db);
      const { orders, problems } = countsOf(db, store as unknown as Counters, {
        ...schema,
        isComplete: differences.length === 0,
      });
      return {
        schema,
        schemaDifferences: differences,
        environment: (store.environment ?? undefined) as Environment | undefined,
        movedTo: (store.moved_to ?? undefined) as string | undefined,
        revision: store.revision as bigint,
        orders,
        problems: [...damage, ...problems],
      };
    }),
  );
}

/** Compares the schema; one on corrupt pages cannot be read. */
function differencesOf(db: DatabaseSync): string[] {
  try {
    return schemaDifferences('sqlite', describeSchema(db));
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return [];
  }
}

/**
 * Returns the row of the table store with the columns of its schema. If the row is corrupt, returns zeros for the
 * counters and no other columns.
 */
function rowOf(db: DatabaseSync): Record<string, unknown> {
  try {
    const row = db.prepare('SELECT * FROM store').get();
    if (row === undefined) throw new StoreNotUsable(COPY_NOT_COMPLETE);
    return row;
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return { revision: 0n, pending: 0n, shipped: 0n, cancelled: 0n };
  }
}

/** Returns the problems found by https://sqlite.org/pragma.html#pragma_integrity_check */
function damageOf(db: DatabaseSync): string[] {
  try {
    const rows = db.prepare(`PRAGMA integrity_check(${MAX_NAMED})`).all();
    const lines = rows.flatMap((row) => String(row.integrity_check).split('\n'));
    return lines.filter((line) => line !== 'ok' && !line.startsWith('***')).slice(0, MAX_NAMED);
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return [(error as Error).message];
  }
}

/** Counts the orders and compares the result with the counters; rows on corrupt pages cannot be counted. */
function countsOf(
  db: DatabaseSync,
  counters: Counters,
  schema: SchemaVersion & { readonly isComplete: boolean },
): ReturnType<typeof compare> {
  try {
    const statement = db.prepare(countsSql(schema));
    statement.setReturnArrays(true);
    return compare(counters, statement.get() as unknown as bigint[]);
  } catch (error) {
    // A column that is missing is listed already.
    if (!isCorrupt(error) && schema.isComplete) throw error;
    const { pending, shipped, cancelled } = counters;
    const problems = [`the orders cannot be counted: ${(error as Error).message}`];
    return { orders: { pending, shipped, cancelled }, problems };
  }
}
