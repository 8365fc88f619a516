import { DatabaseSync } from 'node:sqlite';
import { asset } from '../../../assets.ts';
import { printable } from '../../../domain/text.ts';
import { allMigrations, MIGRATIONS_FOLDER, missingMigrations } from './schema.ts';

/** Indexes that evaluate nothing, and refuse no row. An operator may add some. */
const PLAIN_INDEX = `s.type = 'index' AND NOT EXISTS (SELECT 1 FROM pragma_index_list(s.tbl_name) AS i
    WHERE i.name = s.name AND (i."unique" OR i.partial))
  AND NOT EXISTS (SELECT 1 FROM pragma_index_info(s.name) AS c WHERE c.name IS NULL)`;

const OBJECTS = `SELECT s.type || ' ' || s.name AS object, s.sql FROM sqlite_schema AS s
  WHERE s.type <> 'table' AND s.sql IS NOT NULL AND NOT (${PLAIN_INDEX}) ORDER BY object`;

/**
 * Returns the triggers, views and indexes of a store that the migrations did not make, such as "trigger t": they run, or refuse rows, when a later
 * statement writes. Reads only the schema, in which nothing can be hidden. `db` must return rows as objects.
 * @throws StoreNotUsable if the file belongs to another program or a newer release
 */
export function foreignObjects(db: DatabaseSync): string[] {
  const count = allMigrations().length - missingMigrations(db).length;
  const own = ownObjects(count);
  const foreign = db.prepare(OBJECTS).all();
  return foreign
    .filter(({ object, sql }) => own.get(String(object)) !== sql)
    .map(({ object }) => `the schema has what no migration made: ${printable(String(object))}`);
}

/** What the first migrations make, as in sqlite_schema. */
function ownObjects(count: number): ReadonlyMap<string, string> {
  const db = new DatabaseSync(':memory:');
  try {
    for (const name of allMigrations().slice(0, count)) {
      db.exec(asset(`${MIGRATIONS_FOLDER}/${name}`));
    }
    const rows = db.prepare(OBJECTS).all();
    return new Map(rows.map(({ object, sql }) => [String(object), String(sql)]));
  } finally {
    db.close();
  }
}
