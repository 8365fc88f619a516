import type { OtherNumber } from '../../../protocol/exact-json.ts';

/** Maximum length of a line, an array element or a CSV record; bounds the memory of an import. */
export const MAX_ROW_BYTES = 1024 * 1024;

/** The value of a field; integers of any size are bigint. */
export type FieldValue = string | bigint | OtherNumber | boolean | null | object;

export type Fields = Readonly<Record<string, FieldValue>>;

/** The value of a row, or the problem with it; `at` is the position of the row in the file, such as "line 7". */
export type FileRow<T> =
  | { readonly at: string; readonly value: T; readonly problem?: undefined }
  | { readonly at: string; readonly problem: string };

/** The permitted fields of a row. CSV contains only text, so the kind of a column determines how its text is converted. */
export type Columns = Readonly<Record<string, 'integer' | 'text' | 'boolean'>>;
