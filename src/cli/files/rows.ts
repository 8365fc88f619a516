import { compressionOf } from './compressed.ts';
import { readCsv } from './csv.ts';
import { FieldProblem } from './fields.ts';
import { readJsonArray, readNdjson } from './json.ts';
import type { Columns, Fields, FileRow } from './row.ts';

/**
 * Reads the rows of NDJSON, a JSON array or CSV in batches, and converts each with `parse`; the format is detected from the first character.
 * Memory use is constant. Malformed rows are returned with a problem.
 */
export async function* readValues<T>(
  chunks: AsyncGenerator<Buffer>,
  columns: Columns,
  parse: (fields: Fields) => T,
): AsyncGenerator<FileRow<T>[]> {
  for await (const rows of readRows(chunks, columns)) {
    yield rows.map((row) => converted(row, parse));
  }
}

function converted<T>(row: FileRow<Fields>, parse: (fields: Fields) => T): FileRow<T> {
  if (row.problem !== undefined) return row;
  try {
    return { at: row.at, value: parse(row.value) };
  } catch (error) {
    if (!(error instanceof FieldProblem)) throw error;
    return { at: row.at, problem: error.message };
  }
}

async function* readRows(
  chunks: AsyncGenerator<Buffer>,
  columns: Columns,
): AsyncGenerator<FileRow<Fields>[]> {
  const { start, head, all } = await peek(chunks);
  if (start === undefined) return;
  const problem = formatProblem(start, head);
  if (problem !== undefined) yield [{ at: 'line 1', problem }];
  else if (start === '[') yield* readJsonArray(all);
  else if (start === '{') yield* readNdjson(all);
  else yield* readCsv(all, columns);
}

/** Detects compressed files and unsupported formats of spreadsheets. Returns advice, or undefined for other content. */
function formatProblem(start: string, head: Buffer): string | undefined {
  const compressed = compressionOf(head);
  if (compressed !== undefined) {
    const { name, command } = compressed;
    return `is compressed with ${name}; decompress it, for example with "${command} FILE | store-orders … -"`;
  }
  if (head.subarray(0, 4).equals(Buffer.from('PK\x03\x04'))) {
    return 'is a spreadsheet (.xlsx, .ods) or another ZIP file; save the file as CSV (UTF-8)';
  }
  if (head.subarray(0, 4).equals(Buffer.from('\xd0\xcf\x11\xe0', 'latin1'))) {
    return 'is a spreadsheet (.xls) or another file of Microsoft Office; save the file as CSV (UTF-8)';
  }
  if (head.subarray(0, 16).equals(Buffer.from('SQLite format 3\0'))) {
    return 'is an SQLite database; use "store-orders restore" or "store-orders copy" for one of this program';
  }
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) {
    return 'is encoded in UTF-16; save the file as UTF-8';
  }
  return start === '\0' || head[1] === 0
    ? 'is binary, or encoded in UTF-16; save the file as text in UTF-8'
    : undefined;
}

/**
 * Returns the first character that is neither white space nor a byte order mark, the first chunk, and an iterator
 * over all chunks from the beginning.
 */
async function peek(
  chunks: AsyncGenerator<Buffer>,
): Promise<{ start: string | undefined; head: Buffer; all: AsyncGenerator<Buffer> }> {
  const seen: Buffer[] = [];
  let start: string | undefined;
  while (start === undefined) {
    const { value, done } = await chunks.next();
    if (done) break;
    const chunk: Buffer = seen.length === 0 ? withoutByteOrderMark(value) : value;
    seen.push(chunk);
    start = /[^\s]/.exec(chunk.toString('latin1'))?.[0];
    // Leading white space is not kept: there can be any amount of it.
    if (start === undefined && seen.length > 1) seen.pop();
  }
  async function* again(): AsyncGenerator<Buffer> {
    yield* seen;
    yield* chunks;
  }
  return { start, head: seen[0] ?? Buffer.alloc(0), all: again() };
}

function withoutByteOrderMark(chunk: Buffer): Buffer {
  return chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? chunk.subarray(3) : chunk;
}

/** Maximum number of problems that are described individually. */
const MAX_DESCRIBED = 20;

/** The problems of a file: their number, and descriptions of the first ones. */
export class Problems {
  total = 0;
  readonly described: { readonly at: string; readonly problem: string }[] = [];

  add(at: string, problem: string): void {
    this.total += 1;
    if (this.described.length < MAX_DESCRIBED) this.described.push({ at, problem });
  }
}
