import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Row, Session as TableSession, Value } from '../../tables/session.ts';

/** A connection that prepares each statement once. */
export class Session implements TableSession {
  readonly engine = 'sqlite';
  readonly #db: DatabaseSync;
  /** By their text: as many as there are statements in the code. */
  readonly #prepared = new Map<string, StatementSync>();

  /** @param db reads integers as bigint; closed with the session */
  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  query(sql: string, values: readonly Value[] = []): Row[] {
    return this.#statement(sql).all(...values.map(inputOf)) as unknown as Row[];
  }

  write(sql: string, values: readonly Value[] = []): number {
    return Number(this.#statement(sql).run(...values.map(inputOf)).changes);
  }

  writeReturning(sql: string, values: readonly Value[] = []): Row[] {
    return this.query(sql, values);
  }

  /** Executes a statement without parameters and rows, such as BEGIN. */
  run(sql: string): void {
    this.#statement(sql).run();
  }

  get isInTransaction(): boolean {
    return this.#db.isTransaction;
  }

  close(): void {
    this.#db.close();
  }

  #statement(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(inSqlite(sql));
      statement.setReturnArrays(true);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}

/** Translates PostgreSQL's json_array_elements, parameters ($1) and their casts ($1::json). */
function inSqlite(sql: string): string {
  return sql
    .replaceAll('json_array_elements(', 'json_each(')
    .replaceAll(/\$(\d+)(?:::\w+)?/g, '?$1');
}

function inputOf(value: Value): SQLInputValue {
  if (typeof value === 'boolean') return Number(value);
  return value ?? null;
}

/** Formats integers for json_each, which reads every int64 exactly. */
export function jsonArray(values: readonly bigint[]): string {
  return `[${values.join()}]`;
}
