import { type Row, text } from '../../tables/session.ts';
import type { Session } from './session.ts';

/** Returns the lines of `schemaDifferences` for the schema that has the table store. */
export async function describeSchema(session: Session): Promise<string[]> {
  const statements = [
    COLUMNS,
    INDEXES,
    IDENTITIES,
    CHECKS,
    RULES,
    CHILDREN,
    TRIGGERS,
    FUNCTIONS,
    TABLES,
  ];
  const rows = await Promise.all(statements.map((each) => session.query(each)));
  return rows.flat().map(([line]) => line as string);
}

const HERE = `(SELECT relnamespace FROM pg_class WHERE oid = to_regclass('store'))`;

/**
 * "table orders", or another kind of relation with its name: foreign tables and views do not make commits durable, and a crash empties an
 * unlogged table.
 */
const TABLES = `SELECT CASE WHEN relpersistence <> 'p' THEN 'unlogged table ' WHEN relkind = 'f' THEN 'foreign table '
    WHEN relkind IN ('v', 'm') THEN 'view ' ELSE 'table ' END || relname AS line
  FROM pg_class WHERE relnamespace = ${HERE} AND relkind IN ('r', 'p', 'f', 'v', 'm') ORDER BY line`;

const COLUMNS = `SELECT 'column ' || t.relname || '.' || c.attname || ' ' || format_type(c.atttypid, c.atttypmod)
    || CASE WHEN c.attnotnull THEN ' not null' ELSE '' END
    || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
  FROM pg_class AS t JOIN pg_attribute AS c ON c.attrelid = t.oid
    LEFT JOIN pg_attrdef AS d ON d.adrelid = t.oid AND d.adnum = c.attnum
  WHERE t.relnamespace = ${HERE} AND t.relkind IN ('r', 'p', 'f', 'v', 'm') AND c.attnum > 0 AND NOT c.attisdropped
  ORDER BY t.relname, c.attnum`;

/** Without indexes whose creation has not ended. */
const INDEXES = `SELECT CASE WHEN i.indisprimary THEN 'key ' WHEN i.indisunique THEN 'unique ' ELSE 'index ' END || t.relname
    || ' (' || (SELECT string_agg(pg_get_indexdef(i.indexrelid, part, true)
      || CASE WHEN i.indcollation[part - 1] = 'pg_catalog."C"'::regcollation THEN ' COLLATE "C"' ELSE '' END, ', ' ORDER BY part)
      FROM generate_series(1, i.indnkeyatts) AS part) || ')' || CASE WHEN i.indpred IS NULL THEN '' ELSE ' partial' END AS line
  FROM pg_class AS t JOIN pg_index AS i ON i.indrelid = t.oid
  WHERE t.relnamespace = ${HERE} AND i.indisvalid ORDER BY line`;

/** By which index publications name the rows of a table without a primary key (migration 028): the statement that makes it so again. */
const IDENTITIES = `SELECT 'identity ' || t.relname || ': ALTER TABLE ' || t.relname || ' REPLICA IDENTITY USING INDEX ' || x.relname AS line
  FROM pg_class AS t JOIN pg_index AS i ON i.indrelid = t.oid JOIN pg_class AS x ON x.oid = i.indexrelid
  WHERE t.relnamespace = ${HERE} AND t.relreplident = 'i' AND i.indisreplident ORDER BY line`;

/** Tables that inherit from those of the store: their rows are returned with those of the store. */
const CHILDREN = `SELECT 'child ' || p.relname || ' ' || i.inhrelid::regclass::text AS line
  FROM pg_inherits AS i JOIN pg_class AS p ON p.oid = i.inhparent WHERE p.relnamespace = ${HERE} ORDER BY line`;

/** Keys are indexes, which are listed. */
const CHECKS = `SELECT CASE contype WHEN 'c' THEN 'check ' ELSE 'constraint ' END || t.relname || ' ' || conname
  FROM pg_constraint AS c JOIN pg_class AS t ON t.oid IN (c.conrelid, c.confrelid)
  WHERE t.relnamespace = ${HERE} AND contype IN ('c', 'f', 'x', 't') ORDER BY t.relname, conname`;

const RULES = `SELECT 'rule ' || t.relname || ' ' || rulename FROM pg_rewrite AS r JOIN pg_class AS t ON r.ev_class = t.oid
  WHERE t.relnamespace = ${HERE} AND t.relkind <> 'v' AND t.relkind <> 'm'
  UNION ALL SELECT 'policy ' || t.relname || ' ' || polname FROM pg_policy AS p JOIN pg_class AS t ON p.polrelid = t.oid
  WHERE t.relnamespace = ${HERE} ORDER BY 1`;

/** Those that fire in sessions of the service: neither disabled ones nor those of replicas. */
const TRIGGERS = `SELECT 'trigger ' || t.relname || ' ' || tgname || ' ' || proname FROM pg_trigger AS g
    JOIN pg_class AS t ON g.tgrelid = t.oid JOIN pg_proc AS f ON f.oid = g.tgfoid
  WHERE t.relnamespace = ${HERE} AND NOT tgisinternal AND tgenabled IN ('O', 'A') ORDER BY tgname, t.relname`;

const FUNCTIONS = `SELECT 'function ' || proname || '(' || pg_get_function_identity_arguments(oid) || ') '
    || left(md5(prosrc), 8) AS line FROM pg_proc
  WHERE pronamespace = ${HERE} AND proname LIKE 'store\\_orders\\_%' ORDER BY line`;

/** Before this migration, text keys have the collation of the database. */
const TEXT_KEYS = '026-text-keys.postgres.sql';
/** The first version that records the version of a database's collation. */
const RECORDED_SINCE = 150_000;

/**
 * Returns the problem of a store whose indexes may have the order of a former version of the collation of its database, with what to do; undefined
 * if there is none, or PostgreSQL has no record of the version (before 15, and for the collations C and POSIX). See decision 062.
 * @param missing the migrations that have not run on an existing store
 */
export async function collationProblem(session: Session, missing: readonly string[]) {
  if (Number(session.server!.version) < RECORDED_SINCE) return undefined;
  if (!missing.includes(TEXT_KEYS)) return undefined;
  const [row] = await session.query(VERSIONS);
  const [name, recorded, actual] = (row as Row).map((each) => text(each));
  if (recorded === undefined || actual === undefined || recorded === actual) return undefined;
  return {
    found:
      `the collation of the database had version ${recorded} when its indexes were made, and has version ${actual} now, so rows may not be found, ` +
      'and a repeated placement may place again',
    advice:
      `stop all nodes, then run REINDEX DATABASE "${name}" and, as a second command, ALTER DATABASE "${name}" REFRESH COLLATION VERSION ` +
      '("Collations" in docs/postgresql.md)',
  };
}

const VERSIONS = `SELECT datname, datcollversion, pg_database_collation_actual_version(oid)
  FROM pg_database WHERE datname = current_database()`;
