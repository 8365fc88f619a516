import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { foreignLines } from '../../expected-schema.ts';
import { TABLES } from '../../tables/copied.ts';
import { migrationsOf, runMigrations } from './schema.ts';

/** Returns the lines of `schemaDifferences` for a database. */
export function describeSchema(db: DatabaseSync): string[] {
  const lines = LINES.flatMap((sql) => db.prepare(sql).all());
  const others = db.prepare(OTHERS).all();
  return [
    ...lines.map(({ line }) => String(line)),
    ...others.map(({ line, sql }) => `${line} ${hash('sha256', String(sql)).slice(0, 8)}`),
  ];
}

const SCHEMA_TABLES = `sqlite_schema AS s WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

/** Of columns, keys and indexes. */
const LINES = [
  `SELECT 'column ' || s.name || '.' || c.name || rtrim(' ' || c.type) || iif(c."notnull", ' not null', '')
    || iif(c.dflt_value IS NULL, '', ' default ' || c.dflt_value) AS line
  FROM pragma_table_info(s.name) AS c, ${SCHEMA_TABLES} ORDER BY s.name, c.cid`,
  `SELECT 'key ' || s.name || ' (' || group_concat(c.name, ', ' ORDER BY c.pk) || ')' AS line
  FROM pragma_table_info(s.name) AS c, ${SCHEMA_TABLES} AND c.pk > 0 GROUP BY s.name ORDER BY s.name`,
  `SELECT iif(i."unique", 'unique ', 'index ') || s.name || ' (' || group_concat(coalesce(c.name, 'expression'), ', ' ORDER BY c.seqno) || ')'
    || iif(i.partial, ' partial', '') AS line
  FROM pragma_index_list(s.name) AS i, pragma_index_info(i.name) AS c, ${SCHEMA_TABLES} AND i.origin <> 'pk'
  GROUP BY i.name ORDER BY line`,
];

const OTHERS = `SELECT type || ' ' || name AS line, sql FROM sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY line`;

/** Indexes that evaluate nothing, and refuse no row. An operator may add some. */
const PLAIN_INDEX = `s.type = 'index' AND NOT EXISTS (SELECT 1 FROM pragma_index_list(s.tbl_name) AS i
    WHERE i.name = s.name AND (i."unique" OR i.partial))
  AND NOT EXISTS (SELECT 1 FROM pragma_index_info(s.name) AS c WHERE c.name IS NULL)`;

const OBJECTS = `SELECT s.type, s.name, s.sql FROM sqlite_schema AS s
  WHERE s.sql IS NOT NULL AND NOT (${PLAIN_INDEX}) ORDER BY s.type DESC, s.name`;

/** Tables of other programs that refer to tables of the store, whose rows cannot be deleted then. */
const REFERRING = 'foreign key of';
const OWN_NAMES = TABLES.map(({ name }) => `'${name}'`).join();
const REFERENCES = `SELECT '${REFERRING}' AS type, s.name FROM sqlite_schema AS s, pragma_foreign_key_list(s.name) AS f
  WHERE s.type = 'table' AND s.name NOT IN (${OWN_NAMES}) AND f."table" IN (${OWN_NAMES}) GROUP BY s.name`;

/**
 * Returns the triggers, views, indexes and conditions of a store that the migrations did not make, such as "trigger t": they run, or refuse rows, when a
 * later statement writes. Reads only the schema, in which nothing can be hidden.
 * @throws StoreNotUsable if the file belongs to another program or a newer release
 */
export function foreignObjects(db: DatabaseSync): string[] {
  return foreignLines(foreignIn(db).map(({ type, name }) => `${type} ${name}`));
}

/** Drops those that are objects of their own, and tables that refer to those of the store, before any other statement writes. */
export function dropForeignObjects(db: DatabaseSync): void {
  db.exec('PRAGMA foreign_keys = OFF');
  for (const { type, name } of foreignIn(db)) {
    const kind = type === REFERRING ? 'table' : type;
    // A condition of an own table cannot be dropped.
    if (type !== 'table') db.exec(`DROP ${kind} IF EXISTS "${name.replaceAll('"', '""')}"`);
  }
}

function foreignIn(db: DatabaseSync): { readonly type: string; readonly name: string }[] {
  const own = ownObjects(migrationsOf(db));
  const found = db.prepare(OBJECTS).all() as { type: string; name: string; sql: string }[];
  const references = db.prepare(REFERENCES).all() as { type: string; name: string }[];
  const isForeign = ({ type, name, sql }: (typeof found)[number]) => {
    const expected = own.get(`${type} ${name}`);
    if (type !== 'table') return expected !== sql;
    // Tables of other programs do not matter; the text of an own one differs between releases.
    return expected !== undefined && conditionsOf(expected) !== conditionsOf(sql);
  };
  return [...found.filter(isForeign), ...references];
}

/** The conditions of a table: checks, references, collations, and columns that are computed. */
function conditionsOf(sql: string): string {
  const text = sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ');
  const found = text.match(/\b(?:CHECK|REFERENCES|COLLATE|GENERATED|AS ?\()[^,]*/gi) ?? [];
  return found.map((each) => each.replaceAll(/[ )]/g, '').toLowerCase()).join();
}

/** What the first migrations make, as in sqlite_schema. */
function ownObjects(count: number): ReadonlyMap<string, string> {
  using db = new DatabaseSync(':memory:');
  runMigrations(db, 0, count);
  const rows = db.prepare(OBJECTS).all();
  return new Map(rows.map(({ type, name, sql }) => [`${type} ${name}`, String(sql)]));
}
