import { isUtf8 } from 'node:buffer';
import { type ExactJson, parseExactJson } from '../../../protocol/exact-json.ts';
import { cut } from '../../domain/text.ts';
import { type Fields, type FileRow, MAX_ROW_BYTES } from './row.ts';

const NEWLINE = 0x0a;

/** Reads one JSON object per line. Blank lines are skipped, but counted in line numbers. */
export async function* readNdjson(
  chunks: AsyncGenerator<Buffer>,
): AsyncGenerator<FileRow<Fields>[]> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  let isTooLong = false;

  const rowOf = (bytes: Buffer): FileRow<Fields> | undefined => {
    const at = `line ${line}`;
    if (isTooLong || bytes.length > MAX_ROW_BYTES) {
      return { at, problem: `is longer than ${MAX_ROW_BYTES} bytes` };
    }
    return isBlank(bytes) ? undefined : jsonRow(at, bytes);
  };

  for await (const chunk of chunks) {
    const rows: FileRow<Fields>[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const tail = chunk.subarray(from, end);
      const row = rowOf(rest.length === 0 ? tail : Buffer.concat([rest, tail]));
      if (row !== undefined) rows.push(row);
      rest = Buffer.alloc(0);
      isTooLong = false;
      line += 1;
      from = end + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
    isTooLong ||= rest.length > MAX_ROW_BYTES;
    // The rest of an overlong line is discarded up to its end.
    if (isTooLong) rest = Buffer.alloc(0);
    yield rows;
  }
  const last = rowOf(rest);
  if (last !== undefined) yield [last];
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Reads the elements of a JSON array, such as the response of GET /store/orders, without keeping all of it in memory.
 */
export async function* readJsonArray(
  chunks: AsyncGenerator<Buffer>,
): AsyncGenerator<FileRow<Fields>[]> {
  const splitter = new ArraySplitter();
  for await (const chunk of chunks) yield splitter.split(chunk);
  const problem = splitter.finish();
  if (problem !== undefined) yield [problem];
}

/** Splits an array at its commas; the elements are parsed by JSON.parse. */
class ArraySplitter {
  #line = 1;
  /** Line on which the current element begins; 0 before its first character. */
  #elementLine = 0;
  #item = 0;
  /** Number of open brackets and braces, the array's own bracket included. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isClosed = false;
  #hasTrailer = false;
  /** The parts of the current element from earlier chunks. */
  #parts: Buffer[] = [];
  #byteLength = 0;

  split(chunk: Buffer): FileRow<Fields>[] {
    const rows: FileRow<Fields>[] = [];
    let from = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index]!;
      if (byte === NEWLINE) this.#line += 1;
      else if (byte > 0x20 && this.#depth > 0) this.#elementLine ||= this.#line;
      if (this.#isClosed) {
        if (byte > 0x20) this.#hasTrailer = true;
      } else if (this.#isInString) {
        this.#readInString(byte);
      } else if (byte === QUOTE) {
        this.#isInString = true;
      } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
        this.#depth += 1;
        if (this.#depth === 1) from = index + 1;
      } else if (byte === CLOSE_BRACE && this.#depth > 1) {
        // A superfluous brace stays in its element, which then fails to parse.
        this.#depth -= 1;
      } else if (byte === CLOSE_BRACKET && --this.#depth === 0) {
        this.#isClosed = true;
        this.#keep(chunk.subarray(from, index));
        rows.push(...this.#endElement());
      } else if (byte === COMMA && this.#depth === 1) {
        this.#keep(chunk.subarray(from, index));
        rows.push(...this.#endElement());
        from = index + 1;
      }
    }
    if (!this.#isClosed && this.#depth > 0) this.#keep(chunk.subarray(from));
    return rows;
  }

  /** Returns a row with the problem of the array as a whole, or undefined. Must be called after the last chunk. */
  finish(): FileRow<Fields> | undefined {
    const at = `line ${this.#line}`;
    if (!this.#isClosed) {
      return { at, problem: 'the JSON array is not closed; the file may be incomplete' };
    }
    return this.#hasTrailer ? { at, problem: 'there is text after the JSON array' } : undefined;
  }

  #readInString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isInString = false;
  }

  #keep(part: Buffer): void {
    this.#byteLength += part.length;
    if (this.#byteLength <= MAX_ROW_BYTES) this.#parts.push(part);
    else this.#parts = [];
  }

  #endElement(): FileRow<Fields>[] {
    this.#item += 1;
    const at = `line ${this.#elementLine}, item ${this.#item}`;
    const bytes = Buffer.concat(this.#parts);
    const isTooLong = this.#byteLength > MAX_ROW_BYTES;
    this.#parts = [];
    this.#byteLength = 0;
    this.#elementLine = 0;
    if (isTooLong) return [{ at, problem: `is longer than ${MAX_ROW_BYTES} bytes` }];
    const isEmptyArray = this.#isClosed && this.#item === 1 && bytes.toString().trim() === '';
    return isEmptyArray ? [] : [jsonRow(at, bytes)];
  }
}

/** Reads the JSON text of one object as a row; integers keep every digit. */
function jsonRow(at: string, bytes: Buffer): FileRow<Fields> {
  if (!isUtf8(bytes)) return { at, problem: 'is not valid UTF-8' };
  let json: ExactJson;
  try {
    json = parseExactJson(bytes.toString('utf8'));
  } catch {
    return { at, problem: 'is not valid JSON' };
  }
  const { value, repeatedName } = json;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { at, problem: 'is not a JSON object' };
  }
  if (repeatedName !== undefined) {
    return { at, problem: `has the field ${JSON.stringify(cut(repeatedName, 40))} twice` };
  }
  return { at, value: value as Fields };
}
