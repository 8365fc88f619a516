import { parseWrittenId } from '../list/address.ts';

/** What a line of a pasted list names, and the tracking number in its second column. */
export interface PastedEntry {
  readonly text: string;
  readonly trackingNumber: string | undefined;
}

/** A line of a pasted list: the ways in which it can be meant, the likeliest first. */
interface PastedLine {
  readonly ways: readonly (readonly string[])[];
  readonly trackingNumber: string | undefined;
}

/** Returns the lines of a list, which can have two columns: ids or references, and tracking numbers. */
export function linesIn(text: string): PastedLine[] {
  return text.split(/[\r\n]+/).flatMap((line) => {
    const [first = '', second = ''] = line.split('\t').map((cell) => cell.trim());
    if (first === '') return [];
    const trackingNumber = second === '' ? undefined : second;
    return [{ ways: line.includes('\t') ? [[first]] : waysOf(first), trackingNumber }];
  });
}

/** Blanks and commas can be part of a reference, and a comma part of an id. */
function waysOf(text: string): (readonly string[])[] {
  if (parseWrittenId(text) !== undefined) return [[text]];
  const split = [/[,;]/, /[\s,;]+/].map((separator) =>
    text
      .split(separator)
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  );
  // 1,000,2,000 is not four ids.
  return [[text], ...split.filter((parts) => parts.length > 1 && !parts.some(isRest))];
}

const isRest = (part: string) => /^0\d/.test(part);

/** Returns the entries of a line: of its ways, the one of which most texts name orders, as a whole rather than in parts. */
export function entriesOf(
  { ways, trackingNumber }: PastedLine,
  isKnown: (text: string) => boolean,
): PastedEntry[] {
  const shareOf = (texts: readonly string[]) => texts.filter(isKnown).length / texts.length;
  const best = ways.reduce((one, other) => (shareOf(other) > shareOf(one) ? other : one));
  return best.map((text) => ({ text, trackingNumber }));
}
