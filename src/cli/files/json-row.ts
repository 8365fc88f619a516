import { isUtf8 } from 'node:buffer';
import { type ExactJson, parseExactJson } from '../../../protocol/exact-json.ts';
import { cut } from '../../domain/text.ts';
import type { Row, Value } from './row.ts';

/** Reads the JSON text of one object as a row; integers keep every digit. */
export function jsonRow(at: string, bytes: Buffer): Row {
  if (!isUtf8(bytes)) return { at, problem: 'is not valid UTF-8' };
  let json: ExactJson;
  try {
    json = parseExactJson(bytes.toString('utf8'));
  } catch {
    return { at, problem: 'is not valid JSON' };
  }
  const { value, repeatedName } = json;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { at, problem: 'is not a JSON object' };
  }
  if (repeatedName !== undefined) {
    return { at, problem: `has the field ${JSON.stringify(cut(repeatedName, 40))} twice` };
  }
  return { at, fields: value as Record<string, Value> };
}
