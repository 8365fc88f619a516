import { FieldProblem } from './fields.ts';
import type { Input } from './input.ts';
import { readRows } from './read-rows.ts';
import type { Columns, Fields, FileRow } from './row.ts';

/** Maximum number of problems that are described individually. */
const MAX_DESCRIBED = 20;

/** The value of a row, or the problem with it; `at` is its position in the file. */
export type Located<T> =
  | { readonly at: string; readonly value: T; readonly problem?: undefined }
  | { readonly at: string; readonly problem: string };

/** The problems of a file: their number, and descriptions of the first ones. */
export class Problems {
  total = 0;
  readonly described: { readonly at: string; readonly problem: string }[] = [];

  add(at: string, problem: string): void {
    this.total += 1;
    if (this.described.length < MAX_DESCRIBED) this.described.push({ at, problem });
  }
}

/**
 * Reads the rows of a file and converts each with `parse`, in batches.
 * @param onBytes called with the number of bytes read so far
 * @throws InputProblem
 */
export async function* readValues<T>(
  input: Input,
  columns: Columns,
  parse: (fields: Fields) => T,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Located<T>[]> {
  for await (const rows of readRows(counted(input.read(), onBytes), columns)) {
    yield rows.map((row) => located(row, parse));
  }
}

function located<T>(row: FileRow, parse: (fields: Fields) => T): Located<T> {
  if ('problem' in row) return row;
  try {
    return { at: row.at, value: parse(row.fields) };
  } catch (error) {
    if (!(error instanceof FieldProblem)) throw error;
    return { at: row.at, problem: error.message };
  }
}

async function* counted(
  chunks: AsyncGenerator<Buffer>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    onBytes(bytes);
    yield chunk;
  }
}
