/** The locks that a migration takes on tables, by PostgreSQL's names, from strong to weak. */
type LockMode = 'ACCESS EXCLUSIVE' | 'SHARE ROW EXCLUSIVE' | 'ROW EXCLUSIVE';

/** An index on a table that exists before the migration: it is built concurrently, before the transaction. */
interface IndexPlan {
  readonly name: string;
  readonly table: string;
  readonly sql: string;
}

/** The steps of a migration, as read from its text. */
export interface MigrationPlan {
  readonly indexes: readonly IndexPlan[];
  /** The rest, for one transaction. */
  readonly transaction: string;
  /** The locks that the transaction takes on existing tables. */
  readonly locks: readonly { readonly table: string; readonly mode: LockMode }[];
}

/** An index is one statement that begins a line, on columns, maybe with a collation, or functions of them, for all rows or some. */
const INDEX =
  /^CREATE (?:UNIQUE )?INDEX (\w+) ON (\w+) \((?:[\w, "]|\([\w, ]+\))+\)(?: WHERE [^;]+)?;$/gm;

/** Statements that lock a table, each at the beginning of a line. */
const LOCKING: readonly (readonly [RegExp, LockMode])[] = [
  [/^(?:ALTER|DROP) TABLE (?:IF EXISTS )?(\w+)/gm, 'ACCESS EXCLUSIVE'],
  [/^LOCK TABLE (\w+) IN ACCESS EXCLUSIVE/gm, 'ACCESS EXCLUSIVE'],
  [/^LOCK TABLE (\w+) IN SHARE ROW EXCLUSIVE/gm, 'SHARE ROW EXCLUSIVE'],
  [/^CREATE (?:CONSTRAINT )?TRIGGER [^;]*? ON (\w+)/gm, 'SHARE ROW EXCLUSIVE'],
  [/^(?:UPDATE|DELETE FROM|INSERT INTO) (\w+)/gm, 'ROW EXCLUSIVE'],
];

/** @param hasTable whether the database has a table before the migration */
export function planMigration(sql: string, hasTable: (name: string) => boolean): MigrationPlan {
  const indexes: IndexPlan[] = [];
  const transaction = sql.replaceAll(INDEX, (statement, name, table) => {
    if (!hasTable(table)) return statement;
    const concurrently = statement.replace(' INDEX ', ' INDEX CONCURRENTLY ');
    indexes.push({ name, table, sql: concurrently });
    return '';
  });
  const locks = new Map<string, LockMode>();
  for (const [pattern, mode] of LOCKING) {
    for (const [, table] of transaction.matchAll(pattern)) {
      // The strongest mode comes first.
      if (hasTable(table!) && !locks.has(table!)) locks.set(table!, mode);
    }
  }
  return { indexes, transaction, locks: Array.from(locks, ([table, mode]) => ({ table, mode })) };
}
