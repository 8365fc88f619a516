import { isUtf8 } from 'node:buffer';
import { OtherNumber, type Row, type Value } from './row.ts';

/** An integer of any size in canonical spelling. */
export const INTEGER = /^(?:0|-?[1-9]\d*)$/;

/** Parses a row from the JSON text of one object. Integers keep every digit. */
export function jsonRow(at: string, bytes: Buffer): Row {
  if (!isUtf8(bytes)) return { at, problem: 'is not valid UTF-8' };
  const text = bytes.toString('utf8');
  let parsed: { value: unknown; members: number };
  try {
    parsed = parseExactly(text);
  } catch {
    return { at, problem: 'is not valid JSON' };
  }
  const { value, members } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { at, problem: 'is not a JSON object' };
  }
  if (repeatsName(text, members)) {
    return {
      at,
      problem: `has the field ${JSON.stringify(repeatedName(text).slice(0, 40))} twice`,
    };
  }
  return { at, fields: value as Record<string, Value> };
}

type Reviver = (
  this: unknown,
  key: string,
  value: unknown,
  context: { source?: string },
) => unknown;

/**
 * Like JSON.parse, but integers become bigint from their digits rather than from a double. `members` is the number of
 * members in all parsed objects; of several with the same name JSON.parse keeps the last.
 */
function parseExactly(text: string): { value: unknown; members: number } {
  // Starts at -1, since the reviver is also called for the root value, as a member of an object not in the text.
  let members = -1;
  const reviver: Reviver = function (_key, value, { source }) {
    if (!Array.isArray(this)) members += 1;
    if (typeof value !== 'number') return value;
    return INTEGER.test(source!) ? BigInt(source!) : new OtherNumber(source!);
  };
  const value = JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
  return { value, members };
}

/** Returns whether a valid JSON text contains more members than were parsed, that is, repeats a name. */
function repeatsName(text: string, members: number): boolean {
  // Fast path: most programs write the colon right after the name. Counting `":` then counts each name, and few
  // others.
  let count = 0;
  for (let at = text.indexOf('":'); at !== -1; at = text.indexOf('":', at + 2)) count += 1;
  if (count === members && !/"[ \t\r\n]+:/.test(text)) return false;
  count = 0;
  for (const [, , colon] of text.matchAll(TOKENS)) if (colon !== undefined) count += 1;
  return count > members;
}

/** Returns the first name that an object in a valid JSON text repeats. */
function repeatedName(text: string): string {
  const objects: Set<string>[] = [];
  for (const [token, quoted, colon] of text.matchAll(TOKENS)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(quoted!);
      if (objects.at(-1)!.has(name)) return name;
      objects.at(-1)!.add(name);
    }
  }
  throw new Error('no name is repeated');
}

/** Matches braces, and strings with the colon after them if they are names. */
const TOKENS = /("(?:[^"\\]|\\.)*")([ \t\r\n]*:)?|[{}]/g;
