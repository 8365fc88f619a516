import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';

/** A result row: columns in the order of the query, integers as bigint. */
export type Row = readonly SQLOutputValue[];

/** A parameter; undefined becomes NULL, and a boolean 0 or 1. */
export type Value = SQLInputValue | boolean | undefined;

/** A connection that prepares each statement once. */
export class Session {
  readonly #db: DatabaseSync;
  /** By their text: as many as there are statements in the code. */
  readonly #prepared = new Map<string, StatementSync>();

  /** @param db reads integers as bigint; closed with the session */
  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Executes a statement and returns its rows. */
  query(sql: string, ...values: readonly Value[]): Row[] {
    return this.#statement(sql).all(...values.map(inputOf)) as unknown as Row[];
  }

  /** Executes a statement and returns the number of rows it has changed. */
  write(sql: string, ...values: readonly Value[]): bigint {
    return this.#statement(sql).run(...values.map(inputOf)).changes as bigint;
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
      statement = this.#db.prepare(sql);
      statement.setReturnArrays(true);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}

function inputOf(value: Value): SQLInputValue {
  if (typeof value === 'boolean') return Number(value);
  return value ?? null;
}
