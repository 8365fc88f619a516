import { readCsv } from './csv.ts';
import { readJsonArray } from './json-array.ts';
import { readNdjson } from './ndjson.ts';

/** A line, an element of an array or a CSV record may not be longer: bounds the memory of an import. */
export const MAX_ROW_BYTES = 1024 * 1024;

/**
 * What a field holds: integers as bigint, whatever their size; a number with a fraction or an
 * exponent as a JavaScript number, which no field accepts.
 */
export type Value = string | bigint | number | boolean | null | object;

export type Fields = Readonly<Record<string, Value>>;

/** `at`: where the row stands, such as "line 7". */
export type Row =
  | { readonly at: string; readonly fields: Fields }
  | { readonly at: string; readonly problem: string };

/** The fields a row may have. CSV knows text only, so a column's kind says what to make of it. */
export type Columns = Readonly<Record<string, 'integer' | 'text' | 'boolean'>>;

/**
 * The rows of NDJSON, a JSON array or CSV, recognised by the first character, in batches. Memory
 * stays flat. What is not well formed comes as a row with a problem.
 */
export async function* readRows(
  chunks: AsyncGenerator<Buffer>,
  columns: Columns,
): AsyncGenerator<Row[]> {
  const { start, all } = await peek(chunks);
  if (start === undefined) return;
  if (start === '[') yield* readJsonArray(all);
  else if (start === '{') yield* readNdjson(all);
  else yield* readCsv(all, columns);
}

/** The first character that is neither white space nor a byte order mark, and all chunks again. */
async function peek(
  chunks: AsyncGenerator<Buffer>,
): Promise<{ start: string | undefined; all: AsyncGenerator<Buffer> }> {
  const seen: Buffer[] = [];
  let start: string | undefined;
  while (start === undefined) {
    const { value, done } = await chunks.next();
    if (done) break;
    const chunk: Buffer = seen.length === 0 ? withoutByteOrderMark(value) : value;
    seen.push(chunk);
    start = /[^\s]/.exec(chunk.toString('latin1'))?.[0];
    // White space without end is no file of ours, and must not gather in memory.
    if (start === undefined && seen.length > 1) seen.pop();
  }
  async function* again(): AsyncGenerator<Buffer> {
    yield* seen;
    yield* chunks;
  }
  return { start, all: again() };
}

function withoutByteOrderMark(chunk: Buffer): Buffer {
  return chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? chunk.subarray(3) : chunk;
}
