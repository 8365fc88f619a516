import { FieldProblem } from './fields.ts';
import type { Input } from './input.ts';
import { type Columns, type Fields, readRows } from './rows.ts';

/** Most problems that are described one by one. */
const MAX_DESCRIBED = 20;

export interface Located<T> {
  /** Where it stands in the file, such as "line 7". */
  readonly at: string;
  readonly value: T;
}

/** What is wrong with a file: how many problems, and the first of them in words. */
export class Problems {
  total = 0;
  readonly described: string[] = [];

  add(at: string, problem: string): void {
    this.total += 1;
    if (this.described.length < MAX_DESCRIBED) this.described.push(`${at}: ${problem}`);
  }
}

/**
 * What `parse` makes of the rows of a file, in batches; rows it refuses with a FieldProblem, or that
 * are not well formed, go to `problems`. `onBytes` is told how far the reading got.
 */
export async function* readValues<T>(
  input: Input,
  columns: Columns,
  parse: (fields: Fields) => T,
  problems: Problems,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Located<T>[]> {
  for await (const rows of readRows(counted(input.read(), onBytes), columns)) {
    const values: Located<T>[] = [];
    for (const row of rows) {
      if ('problem' in row) {
        problems.add(row.at, row.problem);
        continue;
      }
      try {
        values.push({ at: row.at, value: parse(row.fields) });
      } catch (error) {
        if (!(error instanceof FieldProblem)) throw error;
        problems.add(row.at, error.message);
      }
    }
    yield values;
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
