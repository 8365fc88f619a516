import { isUtf8 } from 'node:buffer';
import { MAX_ROW_BYTES } from './rows.ts';

const NEWLINE = 0x0a;

/** Knows in which lines of a text that comes in chunks there are bytes that are not UTF-8. */
export class Utf8Lines {
  readonly #bad = new Set<number>();
  /** The number of the line that the next bytes to be looked at begin, and what has come of it. */
  #line = 1;
  #rest: Buffer = Buffer.alloc(0);

  /** Takes the next chunk; its last line counts when its end has come. */
  add(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    this.#rest = bytes.subarray(end);
    this.#look(bytes.subarray(0, end));
    // Such a row is refused for its length.
    if (this.#rest.length > MAX_ROW_BYTES) this.#rest = Buffer.alloc(0);
  }

  /** After the last chunk. */
  end(): void {
    this.#look(this.#rest);
  }

  /** Whether one of the lines after `from`, up to `to`, is bad. */
  areBad(from: number, to: number): boolean {
    if (this.#bad.size === 0) return false;
    for (let line = from + 1; line <= to; line += 1) if (this.#bad.has(line)) return true;
    return false;
  }

  #look(lines: Buffer): void {
    const isGood = isUtf8(lines);
    for (let at = 0; at < lines.length; this.#line += 1) {
      const next = lines.indexOf(NEWLINE, at) + 1 || lines.length;
      if (!isGood && !isUtf8(lines.subarray(at, next))) this.#bad.add(this.#line);
      at = next;
    }
  }
}
