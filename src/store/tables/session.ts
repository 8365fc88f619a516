import { toJson } from '../../../protocol/exact-json.ts';
import type { CommandOf, OutcomeOf, StoreCommand } from '../commands.ts';
import { type Engine, StoreUnavailable } from '../store.ts';

/** A column of a row: integers are bigint, booleans 0n or 1n, on both engines. */
export type Column = bigint | number | string | Uint8Array | null;
/** A row: columns in the order of the query. */
export type Row = readonly Column[];
/** A parameter; undefined becomes NULL. */
export type Value = bigint | number | string | boolean | Uint8Array | null | undefined;

/**
 * A connection as the tables use it, inside a transaction where they write. SQLite returns results at once, PostgreSQL promises.
 *
 * Statements have PostgreSQL's form. SQLite's session translates what it does not have: parameters ($1, also with a
 * cast) and json_array_elements. Where the engines differ more, a statement has a text for each.
 */
export interface Session {
  readonly engine: Engine['name'];
  /** Executes a statement and returns its rows. */
  query(sql: string, values?: readonly Value[]): Row[] | Promise<Row[]>;
  /** Executes a statement and returns the number of rows that it has written. */
  write(sql: string, values?: readonly Value[]): number | Promise<number>;
  /** Executes a statement that writes and returns its rows. */
  writeReturning(sql: string, values?: readonly Value[]): Row[] | Promise<Row[]>;
}

/** How each command is carried out, in a transaction that excludes all other writers unless it has a single statement. */
export type Commands<Own = Session> = {
  readonly [Type in StoreCommand['type']]: (
    session: Own,
    command: CommandOf<Type>,
  ) => Promise<OutcomeOf<CommandOf<Type>>>;
};

/** How each read of a Store, or of its History, is carried out: they describe it. */
export type StoreReads<Of, Own = Session> = {
  readonly [Name in keyof Of]: Of[Name] extends (...given: infer Given) => infer Result
    ? (session: Own, ...given: Given) => Result
    : never;
};

/**
 * A trigger or a rule that somebody has added to the database can leave rows out, without an error.
 * @throws StoreUnavailable unless as many rows were written as were meant, so that the transaction is rolled back
 */
export function expectWritten(written: number, meant: number): void {
  if (written === meant) return;
  throw new StoreUnavailable(
    'the database itself has undone a part of the change, which was rolled back; "store-orders check" has the names of its triggers and rules',
    'schema',
  );
}

/** A statement with a text for each engine. */
export type Dialects = Readonly<Record<Engine['name'], string>>;

/**
 * Returns a statement for each engine.
 * @param statement gets what follows a text column that is to be found by its index: the collation of the index (decision 062)
 */
export function byText(statement: (collation: string) => string): Dialects {
  return { sqlite: statement(''), postgresql: statement(' COLLATE "C"') };
}

/** Formats rows as the parameter of json_array_elements, which returns each as an array: `value ->> 0` is its first column. */
export function jsonRows(rows: readonly (readonly (string | bigint | number | undefined)[])[]) {
  return toJson(rows);
}

export function integer(column: Column | undefined): bigint | undefined {
  return (column ?? undefined) as bigint | undefined;
}

/** Converts an integer far below 2^53: milliseconds since the epoch, or a count. */
export function number(column: Column | undefined): number | undefined {
  return column === null || column === undefined ? undefined : Number(column);
}

export function text(column: Column | undefined): string | undefined {
  return (column ?? undefined) as string | undefined;
}

export function boolean(column: Column | undefined): boolean | undefined {
  return column === null || column === undefined ? undefined : column === 1n;
}

/** Formats a row unambiguously, for a digest: text is quoted, and its tabs and line feeds are escaped. */
export function rowText(row: Row): string {
  return `${row.map(cellText).join('\t')}\n`;
}

function cellText(cell: Column): string {
  if (typeof cell === 'string') return JSON.stringify(cell);
  if (cell instanceof Uint8Array) return Buffer.from(cell).toString('hex');
  return String(cell);
}
