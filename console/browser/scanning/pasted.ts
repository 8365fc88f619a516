import { parseWrittenId } from '../list/address.ts';

/** A line of a pasted list: the ways in which it can be meant, the likeliest first. */
interface PastedLine {
  /** The line up to a tab. */
  readonly whole: string;
  readonly ways: readonly (readonly string[])[];
  /** Whether it can be one id, which is taken apart only if each part names an order: 997 996. */
  readonly isId: boolean;
  readonly trackingNumber: string | undefined;
  /** What is before the last text, and that text: these can be two columns, too. */
  readonly columns: readonly string[];
}

const LAST_TEXT = /^(.*[^\s,;])[\s,;]+([^\s,;]+)$/;

/** Returns the lines of a list, which can have two columns: ids or references, and tracking numbers. */
export function linesIn(text: string): PastedLine[] {
  return text.split(/[\r\n]+/).flatMap((line) => {
    const [whole = '', second = ''] = line.split('\t').map((cell) => cell.trim());
    if (whole === '') return [];
    const hasTab = line.includes('\t');
    const isId = parseWrittenId(whole) !== undefined;
    const columns = hasTab || isId ? [] : (LAST_TEXT.exec(whole)?.slice(1) ?? []);
    const ways = hasTab
      ? [[whole]]
      : waysOf(whole, isId ? [/\S+/g] : [/[^\s,;][^,;]*/g, /[^\s,;]+/g]);
    return [{ whole, ways, isId, trackingNumber: second || undefined, columns }];
  });
}

/** Blanks and commas can be part of a reference, and a comma part of an id. */
function waysOf(text: string, parts: readonly RegExp[]): (readonly string[])[] {
  const split = parts.map((part) => (text.match(part) ?? []).map((each) => each.trim()));
  // 1,000,2,000 is not four ids; 217; has an empty second column.
  const isOther = (parts: readonly string[]) =>
    parts.length === 1 ? parts[0] !== text : parts.length > 1 && !parts.some(isRest);
  return [[text], ...split.filter(isOther)];
}

const isRest = (part: string) => /^0\d/.test(part);

/**
 * Returns the entries of a list. A line is that of its ways of which most texts name orders, as a whole rather than in parts. If no line names several
 * orders, and most of them, two at least, are an order and a text that names none, the last texts are tracking numbers; a single such line can be two
 * orders, of which one is misspelt. The heading of columns with tabs, which names no order and has no digit above lines of which most name one, is none.
 */
export function entriesOf(rows: readonly PastedLine[], isKnown: (text: string) => boolean) {
  const [heading, ...others] = rows;
  const isNamed = ({ whole }: PastedLine) => isKnown(whole);
  const hasHeading =
    heading?.trackingNumber !== undefined &&
    !isNamed(heading) &&
    !/\d/.test(heading.whole) &&
    others.filter(isNamed).length > others.length / 2;
  const lines = hasHeading ? others : rows;
  const shareOf = (texts: readonly string[]) => texts.filter(isKnown).length / texts.length;
  const all = lines.map(({ whole, ways, isId, trackingNumber, columns: [text = '', last] }) => {
    const best = ways.reduce((one, other) => {
      const share = shareOf(other);
      return share > shareOf(one) && (!isId || share === 1) ? other : one;
    });
    const isPair = last !== undefined && !isKnown(last) && !isKnown(whole);
    return {
      named: best.filter(isKnown).length,
      entries: best.map((each) => ({ text: each, trackingNumber })),
      pair: isPair ? [{ text, trackingNumber: last }] : undefined,
    };
  });
  const pairs = all.filter(({ pair }) => pair !== undefined && isKnown(pair[0]!.text));
  const hasColumns =
    all.every(({ named }) => named < 2) && pairs.length > Math.max(1, lines.length / 2);
  return all.flatMap(({ entries, pair }) => (hasColumns && pair) || entries);
}
