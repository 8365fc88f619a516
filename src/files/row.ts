import type { OtherNumber } from '../json/exact-json.ts';

/** A line, an element of an array or a CSV record may not be longer: bounds the memory of an import. */
export const MAX_ROW_BYTES = 1024 * 1024;

/** What a field holds: integers as bigint, whatever their size. */
export type Value = string | bigint | OtherNumber | boolean | null | object;

export type Fields = Readonly<Record<string, Value>>;

/** `at`: where the row stands, such as "line 7". */
export type Row =
  | { readonly at: string; readonly fields: Fields }
  | { readonly at: string; readonly problem: string };

/** The fields a row may have. CSV knows text only, so a column's kind says what to make of it. */
export type Columns = Readonly<Record<string, 'integer' | 'text' | 'boolean'>>;
