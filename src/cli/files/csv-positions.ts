import { isUtf8 } from 'node:buffer';

/** Passed offsets are removed from memory when there are more than this many. */
const MAX_PASSED = 10_000;

/**
 * Determines, for a CSV file read in chunks, the line on which each record ends, and whether it contains bytes that are not UTF-8. The parser
 * counts a CRLF in quotes twice, and replaces invalid bytes with U+FFFD, which a file may also contain.
 */
export class CsvPositions {
  readonly #lineEnd: number;
  /** Total bytes added. */
  #length = 0;
  /** The last bytes, if they may be the start of a character continued in the next chunk. */
  #rest: Buffer = Buffer.alloc(0);
  #line = 1;
  /** Offsets of line ends and of invalid bytes; those before index `next` belong to earlier records. */
  readonly #lineEnds = { offsets: [] as number[], next: 0 };
  readonly #bad = { offsets: [] as number[], next: 0 };

  /** @param lineEnd the byte that ends a line */
  constructor(lineEnd: number) {
    this.#lineEnd = lineEnd;
  }

  /** Adds the next chunk; must be called before the parser receives it. */
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

  /** Must be called after the last chunk. */
  end(): void {
    this.#look(this.#rest, this.#length - this.#rest.length);
  }

  /**
   * Returns the position of the next record; must be called once per record, in order.
   * @param end offset in the file of the end of the record
   */
  recordUpTo(end: number): { line: number; isBad: boolean } {
    this.#line += pass(this.#lineEnds, end - 1);
    return { line: this.#line, isBad: pass(this.#bad, end) > 0 };
  }

  #look(bytes: Buffer, offset: number): void {
    if (isUtf8(bytes)) return;
    // Each run of non-ASCII bytes between ASCII characters can be checked separately.
    for (let at = 0; at < bytes.length; ) {
      const from = at;
      while (bytes[at]! >= 0x80) at += 1;
      if (!isUtf8(bytes.subarray(from, at))) this.#bad.offsets.push(offset + from);
      while (bytes[at]! < 0x80) at += 1;
    }
  }
}

/** Returns the offset of the last character if it may be incomplete; otherwise the length of `bytes`. */
function endOfCharacters(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 3); at -= 1) {
    if (bytes[at]! < 0x80) break;
    if (bytes[at]! >= 0xc0) return at;
  }
  return bytes.length;
}

/** Advances past the offsets below `end` and returns how many there were. */
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
