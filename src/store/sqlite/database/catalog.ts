import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** Returns the lines of `schemaDifferences` for a database. `db` must return rows as objects. */
export function describeSchema(db: DatabaseSync): string[] {
  const lines = [...COLUMNS, ...INDEXES].flatMap((sql) => db.prepare(sql).all());
  const others = db.prepare(OTHERS).all();
  return [
    ...lines.map(({ line }) => String(line)),
    ...others.map(({ line, sql }) => `${line} ${digestOf(String(sql))}`),
  ];
}

function digestOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex').slice(0, 8);
}

const TABLES = `sqlite_schema AS s WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

const COLUMNS = [
  `SELECT 'column ' || s.name || '.' || c.name || rtrim(' ' || c.type) || iif(c."notnull", ' not null', '')
    || iif(c.dflt_value IS NULL, '', ' default ' || c.dflt_value) AS line
  FROM pragma_table_info(s.name) AS c, ${TABLES} ORDER BY s.name, c.cid`,
];

const INDEXES = [
  `SELECT 'key ' || s.name || ' (' || group_concat(c.name, ', ' ORDER BY c.pk) || ')' AS line
  FROM pragma_table_info(s.name) AS c, ${TABLES} AND c.pk > 0 GROUP BY s.name ORDER BY s.name`,
  `SELECT iif(i."unique", 'unique ', 'index ') || s.name || ' (' || group_concat(coalesce(c.name, 'expression'), ', ' ORDER BY c.seqno) || ')'
    || iif(i.partial, ' partial', '') AS line
  FROM pragma_index_list(s.name) AS i, pragma_index_info(i.name) AS c, ${TABLES} AND i.origin <> 'pk'
  GROUP BY i.name ORDER BY line`,
];

const OTHERS = `SELECT type || ' ' || name AS line, sql FROM sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY line`;
