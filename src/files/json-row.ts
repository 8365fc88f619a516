import { isUtf8 } from 'node:buffer';
import { OtherNumber, type Row, type Value } from './rows.ts';

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
  const names = namesIn(text);
  if (names.length > members) {
    const repeated = names.find((name, index) => names.indexOf(name) < index);
    return { at, problem: `has the field ${JSON.stringify(repeated?.slice(0, 40))} twice` };
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

/** The names of the members of all objects in a valid JSON text: of its strings, those before a colon. */
function namesIn(text: string): string[] {
  const names: string[] = [];
  for (const [match, name, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")([ \t\r\n]*:)?/g)) {
    if (colon !== undefined)
      names.push(match.includes('\\') ? JSON.parse(name!) : name!.slice(1, -1));
  }
  return names;
}
