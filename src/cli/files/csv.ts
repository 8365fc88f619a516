import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { SPREADSHEET_ID } from '../../../protocol/csv.ts';
import { INTEGER } from '../../../protocol/exact-json.ts';
import { cut } from '../../domain/text.ts';
import { type Columns, type Fields, type FieldValue, type FileRow, MAX_ROW_BYTES } from './row.ts';

/** Separators that some spreadsheets write instead of commas. */
const OTHER_SEPARATORS = [
  ['semicolons', ';'],
  ['tabs', '\t'],
] as const;

/** Rows per batch. */
const BATCH = 1_000;

interface CsvRecord {
  /** A character per byte. */
  readonly record: readonly string[];
  /** `lines` is the line on which the record ends. */
  readonly info: { readonly lines: number };
}

/**
 * Reads CSV (RFC 4180) with a header line that names the columns. An empty field has no value. Lines end in LF or
 * CRLF or, if the first line ends in CR alone, in CR.
 */
export async function* readCsv(
  chunks: AsyncGenerator<Buffer>,
  columns: Columns,
): AsyncGenerator<FileRow<Fields>[]> {
  const { endsInCr, all } = await readFirstLine(chunks);
  const parser = parse({
    info: true,
    // A character is a byte: bytes that are not UTF-8 would become U+FFFD, which a file may also contain.
    encoding: 'latin1',
    relax_column_count: true,
    // By default the parser takes the line ending of the first line for all lines.
    record_delimiter: endsInCr ? ['\r'] : ['\r\n', '\n'],
    skip_empty_lines: true,
    max_record_size: MAX_ROW_BYTES,
  });
  // What the reading throws, the parser throws; where the parser ends, the reading ends.
  pipeline(all, parser).catch(() => {});

  /** Characters within fields that the parser counts as lines although they end none: the CR of a CRLF, for example. */
  const noLineEnd = endsInCr ? '\n' : '\r';
  let tooMany = 0;
  let header: readonly string[] | undefined;
  let rows: FileRow<Fields>[] = [];
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      for (const text of record)
        if (text.includes(noLineEnd)) tooMany += text.split(noLineEnd).length - 1;
      const at = `line ${info.lines - tooMany}`;
      const texts = record.map(decoded);
      if (header === undefined) {
        header = texts.map((name) => name?.trim() ?? '');
        const problem = headerProblem(header, columns);
        if (problem === undefined) continue;
        yield [{ at, problem }];
        return;
      }
      rows.push(rowOf(at, texts, header, columns));
      if (rows.length < BATCH) continue;
      yield rows;
      rows = [];
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The start of the next record is unknown after a syntax error, so reading stops.
    rows.push({
      at: `line ${Number(error.lines) - tooMany}`,
      problem: `is not valid CSV: ${csvProblem(error)}`,
    });
  }
  yield rows;
}

/** Returns the text of the bytes of a field; undefined if they are not UTF-8. */
function decoded(bytes: string): string | undefined {
  if (!NOT_ASCII.test(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  return isUtf8(buffer) ? buffer.toString() : undefined;
}

const NOT_ASCII = /[\x80-\xff]/;

/** Returns whether the first line ends in CR alone, and an iterator over all chunks from the beginning. */
async function readFirstLine(
  chunks: AsyncGenerator<Buffer>,
): Promise<{ endsInCr: boolean; all: AsyncGenerator<Buffer> }> {
  const seen: Buffer[] = [];
  let text = '';
  // The LF after a CR may be in the next chunk.
  while (!/\n|\r./s.test(text) && text.length <= MAX_ROW_BYTES) {
    const { value, done } = await chunks.next();
    if (done) break;
    seen.push(value);
    text += value.toString('latin1');
  }
  async function* again(): AsyncGenerator<Buffer> {
    yield* seen;
    yield* chunks;
  }
  return { endsInCr: /^[^\r\n]*\r(?!\n)/.test(text), all: again() };
}

/** Columns that only the console exports. */
const OF_CONSOLE = ['placedAt', 'updatedAt'];

function headerProblem(header: readonly string[], columns: Columns): string | undefined {
  const known = Object.keys(columns);
  const separator =
    header.length === 1
      ? OTHER_SEPARATORS.find(([, each]) => header[0]!.includes(each))
      : undefined;
  if (separator !== undefined) {
    return `has ${separator[0]} between its columns; save the file as CSV with commas`;
  }
  const isOurs = (name: string) => [SPREADSHEET_ID, ...OF_CONSOLE, ...known].includes(name);
  if (header.includes(SPREADSHEET_ID) && header.every(isOurs)) {
    return `has the column ${SPREADSHEET_ID}, so it was exported for a spreadsheet, with changed ids and texts; export the orders with "store-orders export --format csv"`;
  }
  const unknown = header.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const names = unknown.map((name) => JSON.stringify(cut(name, 40))).join(', ');
    return `is not a valid header: unknown columns ${names}; known columns are ${known.join(', ')}`;
  }
  const isTwice = new Set(header).size < header.length;
  return isTwice ? 'is a header that names a column twice' : undefined;
}

function rowOf(
  at: string,
  record: readonly (string | undefined)[],
  header: readonly string[],
  columns: Columns,
): FileRow<Fields> {
  if (record.includes(undefined)) return { at, problem: 'is not valid UTF-8' };
  if (record.length !== header.length) {
    return { at, problem: `has ${record.length} fields, the header has ${header.length}` };
  }
  const fields: Record<string, FieldValue> = {};
  for (const [index, name] of header.entries()) {
    const text = record[index]!;
    if (text !== '') fields[name] = valueFrom(text, columns[name]!);
  }
  return { at, value: fields };
}

/** Returns a message for a syntax error of a CSV file; the library's own messages describe its parser. */
function csvProblem({ code, message }: CsvError): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is never closed';
  if (code === 'CSV_INVALID_CLOSING_QUOTE') return 'a closing quote is followed by more text';
  if (code === 'INVALID_OPENING_QUOTE') return 'there is a quote in the middle of a field';
  return message;
}

/** Converts text to the column's kind. Text that does not fit is returned unchanged, to be refused when the field is validated. */
function valueFrom(text: string, kind: Columns[string]): FieldValue {
  if (kind === 'integer' && INTEGER.test(text)) return BigInt(text);
  if (kind === 'boolean' && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return text;
}
