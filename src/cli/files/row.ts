import { isUtf8 } from 'node:buffer';
import type { OtherNumber } from '../../../protocol/exact-json.ts';
import { type ExactJson, parseExactJson } from '../../../protocol/exact-json.ts';
import { cut } from '../../domain/text.ts';

/** Maximum length of a line, an array element or a CSV record; bounds the memory of an import. */
export const MAX_ROW_BYTES = 1024 * 1024;

/** The value of a field; integers of any size are bigint. */
export type FieldValue = string | bigint | OtherNumber | boolean | null | object;

export type Fields = Readonly<Record<string, FieldValue>>;

/** `at` is the position of the row in the file, such as "line 7". */
export type FileRow =
  | { readonly at: string; readonly fields: Fields }
  | { readonly at: string; readonly problem: string };

/** The permitted fields of a row. CSV contains only text, so the kind of a column determines how its text is converted. */
export type Columns = Readonly<Record<string, 'integer' | 'text' | 'boolean'>>;

/** Reads the JSON text of one object as a row; integers keep every digit. */
export function jsonRow(at: string, bytes: Buffer): FileRow {
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
  return { at, fields: value as Record<string, FieldValue> };
}
