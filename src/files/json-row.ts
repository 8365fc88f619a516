import { isUtf8 } from 'node:buffer';
import type { Row, Value } from './rows.ts';

/** A whole number in its only spelling, of any size. */
export const INTEGER = /^(?:0|-?[1-9]\d*)$/;

/** The row that the JSON text of one object spells; integers keep every digit. */
export function jsonRow(at: string, bytes: Buffer): Row {
  if (!isUtf8(bytes)) return { at, problem: 'is not valid UTF-8' };
  let value: unknown;
  try {
    value = parseExactly(bytes.toString('utf8'));
  } catch {
    return { at, problem: 'is not valid JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { at, problem: 'is not a JSON object' };
  }
  return { at, fields: value as Record<string, Value> };
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** JSON.parse with integers as bigint, made from their digits rather than from a double. */
function parseExactly(text: string): unknown {
  const reviver: Reviver = (_key, value, { source }) =>
    typeof value === 'number' && INTEGER.test(source!) ? BigInt(source!) : value;
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}
