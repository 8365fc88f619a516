/** Control characters, and characters without a width or with the look of a blank: by Unicode's categories, and those that fonts leave out. */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! |\u3000)\p{Zs}/u;
/** Joiners and variation selectors, with which Persian, Indic scripts and emoji are written. */
const JOINING = /(?<=(?!\p{ASCII})[\p{L}\p{M}\p{Emoji}])(?:\u200c|\u200d|\ufe0e|\ufe0f)+/gu;

/** Names the first character of a text that cannot be seen; undefined if there is none. */
export function invisibleIn(text: string): string | undefined {
  const found = INVISIBLE.exec(text.replaceAll(JOINING, ({ length }) => '-'.repeat(length)));
  if (found === null) return undefined;
  const code = found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return `control or invisible characters, such as U+${code} after ${found.index} characters`;
}

/** Replaces line breaks, and characters that control a terminal or change the direction of a text, by \uXXXX: what is recorded or printed stays one line. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (found) =>
    Array.from({ length: found.length }, (_, index) => unitEscape(found.charCodeAt(index))).join(
      '',
    ),
  );
}

function unitEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/** Returns the beginning of a text, of whole characters: half of a surrogate pair is no text, and parsers refuse it. */
export function cut(text: string, length: number): string {
  const short = text.slice(0, length);
  return short.isWellFormed() ? short : short.slice(0, -1);
}

/** Formats a text as JSON in pure ASCII. */
export function asciiJson(text: string): string {
  return JSON.stringify(text).replaceAll(/[\u007f-\uffff]/g, (unit) =>
    unitEscape(unit.charCodeAt(0)),
  );
}
