import { isUtf8 } from 'node:buffer';
import { OtherNumber, type Row, type Value } from './row.ts';

/** A whole number in its only spelling, of any size. */
export const INTEGER = /^(?:0|-?[1-9]\d*)$/;

/** The row that the JSON text of one object spells; integers keep every digit. */
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
 * JSON.parse with integers as bigint, made from their digits rather than from a double. `members` counts the
 * members of all objects in it; of those with one name JSON.parse keeps the last.
 */
function parseExactly(text: string): { value: unknown; members: number } {
  // The first call for an object that is none of the text's holds the whole.
  let members = -1;
  const reviver: Reviver = function (_key, value, { source }) {
    if (!Array.isArray(this)) members += 1;
    if (typeof value !== 'number') return value;
    return INTEGER.test(source!) ? BigInt(source!) : new OtherNumber(source!);
  };
  const value = JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
  return { value, members };
}

/** Whether a valid JSON text names more members than there are: of several with one name one is left. */
function repeatsName(text: string, members: number): boolean {
  // As most programs write it, a name stands right before its colon; each name is counted then, and few else.
  let count = 0;
  for (let at = text.indexOf('":'); at !== -1; at = text.indexOf('":', at + 2)) count += 1;
  if (count === members && !/"[ \t\r\n]+:/.test(text)) return false;
  count = 0;
  for (const [, , colon] of text.matchAll(TOKENS)) if (colon !== undefined) count += 1;
  return count > members;
}

/** The first name that an object in a valid JSON text has twice. */
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

/** Braces, and strings with the colon that makes them names. */
const TOKENS = /("(?:[^"\\]|\\.)*")([ \t\r\n]*:)?|[{}]/g;
