import { invisibleIn } from '../../domain/text.ts';

/** A name that systemd gives to a program; lines with others it drops. */
const NAME = /^[A-Za-z_]\w*$/;
/** Quoted parts at the beginning of a value; white space after each is dropped. */
const QUOTED = /(?:(?:'[^']*'|"(?:[^"\\]|\\.)*")[ \t]*)*/sy;
const QUOTED_PART = /'([^']*)'[ \t]*|"((?:[^"\\]|\\.)*)"[ \t]*/gs;
/** Within double quotes, a backslash protects these characters and the end of a line; before others it stays. */
const PROTECTED = /\\(["\\`$])|\\\n/g;
/** The rest of a value, where a quotation mark is a character as any other. */
const UNQUOTED = /(?:[^\\\n\r]|\\.?)*/sy;
/** What is not itself in it: a backslash, and white space at the end that none protects. */
const ESCAPED = /\\(.?)|[ \t]+$/gs;

/**
 * Parses lines NAME=value exactly as systemd reads an EnvironmentFile (systemd.exec(5), src/basic/env-file.c), so that the same file gives the same
 * settings in a unit. A "#" within a value is a part of it, and a value can have quoted parts and continue after a backslash. What systemd drops or
 * its versions read differently is refused, by the number of its line, since the text may have a password.
 * @throws SyntaxError
 */
export function parseEnvironmentFile(text: string): Record<string, string> {
  let at = 0;
  const take = (part: RegExp): string => {
    part.lastIndex = at;
    const [taken] = part.exec(text)!;
    at += taken.length;
    return taken;
  };
  const refused = (problem: string) => {
    const line = text.slice(0, at).split(/\r\n|\n|\r/).length;
    return new SyntaxError(`line ${line} ${problem}`);
  };
  const settings: Record<string, string> = {};
  for (;;) {
    take(/[ \t\n\r]*/y);
    if (at === text.length) return settings;
    if ('#;'.includes(text[at]!)) {
      if (!take(/[^\n\r]*/y).endsWith('\\')) continue;
      throw refused('must not end a comment with a backslash');
    }
    const name = take(/[^=\n\r]*/y).replace(/[ \t]+$/, '');
    if (text[at] !== '=') throw refused('must be NAME=value, or begin with #');
    if (!NAME.test(name)) {
      const invisible = invisibleIn(name);
      const without = invisible === undefined ? '' : `, without ${invisible}`;
      throw refused(`must begin with a name of letters, digits and underscores${without}`);
    }
    take(/=[ \t]*/y);
    const quoted = take(QUOTED).replaceAll(
      QUOTED_PART,
      (_, single?: string, double = '') => single ?? double.replaceAll(PROTECTED, '$1'),
    );
    if (/['"]/.test(text.charAt(at))) throw refused('has a quotation mark without its end');
    const unquoted = take(UNQUOTED).replaceAll(ESCAPED, (_, escaped = '') =>
      '\n\r'.includes(escaped) ? '' : escaped,
    );
    const value = quoted + unquoted;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: systemd drops values with them.
    if (/[\0-\x08\x0b-\x1f\x7f]/.test(value)) throw refused('has a control character');
    settings[name] = value;
  }
}
