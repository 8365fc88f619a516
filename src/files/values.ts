import { FieldProblem } from './fields.ts';
import type { Input } from './input.ts';
import { readRows } from './read-rows.ts';
import type { Columns, Fields, Row } from './row.ts';

/** Most problems that are described one by one. */
const MAX_DESCRIBED = 20;

/** What a row of a file says, or why it says nothing of use; `at` is where it stands. */
export type Located<T> =
  | { readonly at: string; readonly value: T; readonly problem?: undefined }
  | { readonly at: string; readonly problem: string };

/** What is wrong with a file: how many problems, and the first of them in words. */
export class Problems {
  total = 0;
  readonly described: { readonly at: string; readonly problem: string }[] = [];

  add(at: string, problem: string): void {
    this.total += 1;
    if (this.described.length < MAX_DESCRIBED) this.described.push({ at, problem });
  }
}

/**
 * What `parse` makes of the rows of a file, in batches. `onBytes` is told how far the reading got.
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

function located<T>(row: Row, parse: (fields: Fields) => T): Located<T> {
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
