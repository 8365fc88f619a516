import { AsyncLocalStorage } from 'node:async_hooks';
import { isSea } from 'node:sea';
import type { Readable, Writable } from 'node:stream';
import { toJson } from '../../../protocol/exact-json.ts';
import { printable } from '../../domain/text.ts';

/** Standard streams and environment of a command; `process` conforms to it. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

const terminals = new AsyncLocalStorage<Terminal>();

/** Returns the terminal of the running command: `process`, unless `runIn` has set another. */
export function terminal(): Terminal {
  return terminals.getStore() ?? process;
}

export function runIn<T>(own: Terminal, command: () => Promise<T>): Promise<T> {
  return terminals.run(own, command);
}

/** A usage error detected after parsing. Exit code 2, as for parse errors. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command failed for the reason in the message. Exit code 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** Standard output could not be written: its reader has closed the pipe (EPIPE), the disk is full. */
export class OutputFailed extends Error {
  override readonly name = 'OutputFailed';
  /** Whether the reader has closed the pipe, as in "export | head". */
  readonly isUnread: boolean;

  constructor(cause: Error) {
    super(`cannot write to standard output: ${cause.message}`, { cause });
    this.isUnread = (cause as NodeJS.ErrnoException).code === 'EPIPE';
  }
}

/** Writes to stdout and waits until the system has taken the text. @throws OutputFailed */
export async function writeOut(text: string): Promise<void> {
  await written(terminal().stdout, text).catch((error) => {
    throw new OutputFailed(error);
  });
}

/** Writes to a stream, and waits until the system has taken the text. Rejects with the error of the write. */
export function written(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Writes the new secret of a key or webhook to stdout, the only place where it is shown. If that fails, calls `undo`.
 * @param undo reverts the change; returns its effect, such as "key_1 was revoked"
 * @throws CommandFailed if the secret could not be written
 */
export async function writeSecret(
  id: string,
  text: string,
  undo: () => Promise<string>,
): Promise<void> {
  try {
    await writeOut(text);
  } catch (error) {
    const undone = await undo().catch(
      (failure) => `${id} stays valid, since it could not be taken back: ${failure.message}`,
    );
    throw new CommandFailed(`${(error as Error).message}; ${undone}`);
  }
}

export async function writeJson(value: unknown): Promise<void> {
  // In JSON, characters that are not printable are within texts.
  await writeOut(printableLines(toJson(value, 2)));
}

/** Writes a line to stderr; stdout is reserved for data. */
export function writeErr(text: string): void {
  terminal().stderr.write(printableLines(asStarted(text)));
}

function printableLines(text: string): string {
  return `${text.split('\n').map(printable).join('\n')}\n`;
}

/** Returns a text for people with commands as they are typed: npx starts the program of a clone or of a package, but not an executable. */
export function asStarted(text: string): string {
  return isSea() ? text.replaceAll('npx store-orders', 'store-orders') : text;
}

/** Formats rows as lines of columns, each as wide as its widest cell. */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(printable));
  // There can be a million rows, more than a call has arguments.
  const widths = rows[0]!.map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]!.length), 0),
  );
  const padded = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)));
  return padded.map((row) => `${row.join('  ').trimEnd()}\n`).join('');
}

/** Returns a table of the names and values of those fields that have one. */
export function fieldsText(fields: object): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return table(given.map(([name, value]) => [name, String(value)]));
}

/** The text of an item in each column, by heading. */
type Cells<Item> = Readonly<Record<string, (item: Item) => string | undefined>>;

/** Writes a row for each item to stdout. @param empty the message if there is none */
export async function printRows<Item>(
  items: readonly Item[],
  columns: Cells<Item>,
  empty: string,
): Promise<void> {
  if (items.length === 0) writeErr(empty);
  else await writeOut(rowsText(items, columns));
}

/** Returns a table with headings. */
export function rowsText<Item>(items: readonly Item[], columns: Cells<Item>): string {
  const cellsOf = Object.values(columns);
  const rows = items.map((item) => cellsOf.map((cellOf) => cellOf(item) ?? ''));
  return table([Object.keys(columns), ...rows]);
}

/** 1234567 -> 1,234,567 */
export function grouped(count: number | bigint): string {
  return count.toLocaleString('en-US');
}

/** 1 order, 1,234 orders */
export function counted(count: number | bigint, noun: string): string {
  return `${grouped(count)} ${noun}${BigInt(count) === 1n ? '' : 's'}`;
}

/**
 * Parses an integer from 0 to `most`.
 * @param what name of the value in the error message
 * @throws UsageError
 */
export function naturalNumber(what: string, text: string, most: number): number {
  const parse = () => (/^\d{1,10}$/.test(text) && Number(text) <= most ? Number(text) : undefined);
  return argument(text, parse, `${what} must be 0 to ${most}`);
}

/**
 * Parses a value of the command line.
 * @param expected the beginning of the error message, such as "--last must be an int64"
 * @throws UsageError
 */
export function argument<T>(
  text: string,
  parse: (text: string) => T | undefined,
  expected: string,
): T {
  const value = parse(text);
  if (value === undefined) throw new UsageError(`${expected}, not "${text}"`);
  return value;
}

/** Returns a parser for an option that can be repeated, which adds a value to those before. */
export function repeated<T>(parse: (text: string) => T | undefined, expected: string) {
  return (text: string, others: readonly T[] = []): readonly T[] => {
    const value = argument(text, parse, expected);
    return others.includes(value) ? others : [...others, value];
  };
}
