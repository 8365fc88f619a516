import { type FileRow, jsonRow, MAX_ROW_BYTES } from './row.ts';

const NEWLINE = 0x0a;

/** Reads one JSON object per line. Blank lines are skipped, but counted in line numbers. */
export async function* readNdjson(chunks: AsyncGenerator<Buffer>): AsyncGenerator<FileRow[]> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  let isTooLong = false;

  const rowOf = (bytes: Buffer): FileRow | undefined => {
    const at = `line ${line}`;
    if (isTooLong || bytes.length > MAX_ROW_BYTES) {
      return { at, problem: `is longer than ${MAX_ROW_BYTES} bytes` };
    }
    return isBlank(bytes) ? undefined : jsonRow(at, bytes);
  };

  for await (const chunk of chunks) {
    const rows: FileRow[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const tail = chunk.subarray(from, end);
      const row = rowOf(rest.length === 0 ? tail : Buffer.concat([rest, tail]));
      if (row !== undefined) rows.push(row);
      rest = Buffer.alloc(0);
      isTooLong = false;
      line += 1;
      from = end + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(from)]);
    isTooLong ||= rest.length > MAX_ROW_BYTES;
    // The rest of an overlong line is discarded up to its end.
    if (isTooLong) rest = Buffer.alloc(0);
    yield rows;
  }
  const last = rowOf(rest);
  if (last !== undefined) yield [last];
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
