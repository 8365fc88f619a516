import { isUtf8 } from 'node:buffer';

/** Line ends and bad bytes that records have passed, before the memory for them is freed. */
const MAX_PASSED = 10_000;

/**
 * Knows of a CSV file that is read in chunks in which line each record ends, and whether there are bytes in it that
 * are not UTF-8. The parser counts a line end in quotes twice if it is CRLF, and puts U+FFFD, which may also
 * stand in the file, in the place of such bytes.
 */
export class CsvPositions {
  readonly #lineEnd: number;
  /** Bytes that were added. */
  #length = 0;
  /** The last bytes, if a character may go on after them. */
  #rest: Buffer = Buffer.alloc(0);
  #line = 1;
  /** Offsets of line ends and of bad bytes after the last record; those that it passed are before `next`. */
  readonly #lineEnds = { offsets: [] as number[], next: 0 };
  readonly #bad = { offsets: [] as number[], next: 0 };

  /** @param lineEnd the byte that ends a line */
  constructor(lineEnd: number) {
    this.#lineEnd = lineEnd;
  }

  /** Takes the next chunk, before the parser does. */
  add(chunk: Buffer): void {
    for (let at = chunk.indexOf(this.#lineEnd); at !== -1; ) {
      this.#lineEnds.offsets.push(this.#length + at);
      at = chunk.indexOf(this.#lineEnd, at + 1);
    }
    this.#length += chunk.length;
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = endOfCharacters(bytes);
    this.#rest = bytes.subarray(end);
    this.#look(bytes.subarray(0, end), this.#length - bytes.length);
  }

  /** After the last chunk. */
  end(): void {
    this.#look(this.#rest, this.#length - this.#rest.length);
  }

  /** Asked of one record after another. @param end how many bytes of the file there are up to its end */
  recordUpTo(end: number): { line: number; isBad: boolean } {
    this.#line += pass(this.#lineEnds, end - 1);
    return { line: this.#line, isBad: pass(this.#bad, end) > 0 };
  }

  #look(bytes: Buffer, offset: number): void {
    if (isUtf8(bytes)) return;
    // What is not ASCII stands between what is, and each such run is good or bad by itself.
    for (let at = 0; at < bytes.length; ) {
      const from = at;
      while (bytes[at]! >= 0x80) at += 1;
      if (!isUtf8(bytes.subarray(from, at))) this.#bad.offsets.push(offset + from);
      while (bytes[at]! < 0x80) at += 1;
    }
  }
}

/** Where the last character of `bytes` begins, if it may have more bytes; otherwise their end. */
function endOfCharacters(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 3); at -= 1) {
    if (bytes[at]! < 0x80) break;
    if (bytes[at]! >= 0xc0) return at;
  }
  return bytes.length;
}

/** How many offsets below `end` have not been passed yet; passes them. */
function pass(list: { readonly offsets: number[]; next: number }, end: number): number {
  const from = list.next;
  while (list.next < list.offsets.length && list.offsets[list.next]! < end) list.next += 1;
  const passed = list.next - from;
  if (list.next > MAX_PASSED) {
    list.offsets.splice(0, list.next);
    list.next = 0;
  }
  return passed;
}
