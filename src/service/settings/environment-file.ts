import { invisibleIn } from '../../domain/text.ts';

/** A name that systemd gives to a program; lines with others it drops. */
const NAME = /^[A-Za-z_]\w*$/;
/** Characters that a backslash protects within double quotes; before others it stays. */
const PROTECTED = '"\\`$';
const WHITE = ' \t\n\r';
const NEWLINES = '\n\r';
const BLANKS_AT_END = /[ \t\n\r]+$/;

/**
 * Parses lines NAME=value exactly as systemd reads an EnvironmentFile (systemd.exec(5), src/basic/env-file.c), so that the same file gives the same
 * settings in a unit. A "#" within a value is a part of it, and a value can have quoted parts and continue after a backslash. What systemd drops or
 * its versions read differently is refused, by the number of its line, since the text may have a password.
 * @throws LineRefused
 */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const lines = new Lines(text);
  const settings: Record<string, string> = {};
  for (;;) {
    lines.skip(WHITE);
    if (lines.isAtEnd) return settings;
    if ('#;'.includes(lines.next)) lines.comment();
    else {
      const name = lines.name();
      settings[name] = lines.value();
    }
  }
}

/** A line that is refused; the message names its number, not its text. */
export class LineRefused extends Error {
  override readonly name = 'LineRefused';
}

/** A position in the text of a file. */
class Lines {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The next character; '' at the end. */
  get next(): string {
    return this.#text.charAt(this.#at);
  }

  take(): string {
    this.#at += 1;
    return this.#text.charAt(this.#at - 1);
  }

  skip(characters: string): void {
    while (!this.isAtEnd && characters.includes(this.next)) this.#at += 1;
  }

  comment(): void {
    const comment = this.#until(NEWLINES);
    if (comment.endsWith('\\')) throw this.#refused('must not end a comment with a backslash');
  }

  name(): string {
    const before = this.#until(`=${NEWLINES}`);
    if (this.next !== '=') throw this.#refused('must be NAME=value, or begin with #');
    const name = before.replace(BLANKS_AT_END, '');
    if (!NAME.test(name)) {
      const invisible = invisibleIn(name);
      const without = invisible === undefined ? '' : `, without ${invisible}`;
      throw this.#refused(`must begin with a name of letters, digits and underscores${without}`);
    }
    this.#at += 1;
    return name;
  }

  value(): string {
    let value = '';
    /** Where white space at the end is kept, since it was quoted or protected. */
    let kept = 0;
    /** A quotation mark opens only at the beginning, and after a quoted part. */
    let mayOpen = true;
    this.skip(' \t');
    while (!this.isAtEnd && !NEWLINES.includes(this.next)) {
      const character = this.take();
      if (mayOpen && (character === "'" || character === '"')) {
        value += this.#quoted(character);
        kept = value.length;
        this.skip(' \t');
        continue;
      }
      mayOpen = false;
      if (character === '\\') {
        const escaped = this.take();
        if (!NEWLINES.includes(escaped)) value += escaped;
        kept = value.length;
      } else value += character;
    }
    const result = value.slice(0, kept) + value.slice(kept).replace(BLANKS_AT_END, '');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: systemd drops values with them.
    if (/[\0-\x08\x0b-\x1f\x7f]/.test(result)) throw this.#refused('has a control character');
    return result;
  }

  #quoted(quote: string): string {
    const from = this.#at;
    let value = '';
    for (;;) {
      if (this.isAtEnd) {
        this.#at = from;
        throw this.#refused('has a quotation mark without its end');
      }
      const character = this.take();
      if (character === quote) return value;
      if (quote === "'" || character !== '\\') value += character;
      else {
        const escaped = this.take();
        if (PROTECTED.includes(escaped)) value += escaped;
        else if (escaped !== '\n') value += `\\${escaped}`;
      }
    }
  }

  #until(ends: string): string {
    const from = this.#at;
    while (!this.isAtEnd && !ends.includes(this.next)) this.#at += 1;
    return this.#text.slice(from, this.#at);
  }

  #refused(problem: string): LineRefused {
    const line = this.#text.slice(0, this.#at).split(/\r\n|\n|\r/).length;
    return new LineRefused(`line ${line} ${problem}`);
  }
}
