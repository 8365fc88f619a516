/** Format of the cursors; a later release can still read those of an earlier one. */
const FORMAT = 1;

/** Encodes the parts of a cursor, without padding. */
export function encodeCursor(parts: readonly string[]): string {
  return Buffer.from(JSON.stringify([FORMAT, ...parts])).toString('base64url');
}

/** Decodes the parts of a cursor; undefined for a text that `encodeCursor` does not make. */
export function decodeCursor(cursor: string): readonly string[] | undefined {
  try {
    const [, ...parts] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return parts.every(isText) && encodeCursor(parts) === cursor ? parts : undefined;
  } catch {
    return undefined;
  }
}

function isText(part: unknown): boolean {
  return typeof part === 'string';
}
