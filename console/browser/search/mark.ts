import { caseless } from '../../../protocol/caseless.ts';

/** Returns what is before the first place of a part, in any case, what is there, and what follows; undefined if it is nowhere. */
export function markedPart(
  text: string,
  part: string,
): readonly [string, string, string] | undefined {
  const wanted = caseless(part);
  const has = (begin: number, end: number) => caseless(text.slice(begin, end)).includes(wanted);
  let end = 0;
  while (!has(0, end)) {
    if (end === text.length) return undefined;
    end += 1;
  }
  // An accent after the part belongs to its last letter.
  let begin = end;
  while (!has(begin, end)) begin -= 1;
  return [text.slice(0, begin), text.slice(begin, end), text.slice(end)];
}
