/** Formats a PostgreSQL array literal of numbers, booleans or plain words; elements are not quoted. */
export function arrayOf(values: readonly (bigint | number | boolean | string | undefined)[]) {
  let text = '';
  for (const value of values) text += `,${value ?? 'NULL'}`;
  return `{${text.slice(1)}}`;
}

/** Formats an array literal of bytea; undefined becomes NULL. */
export function byteaArray(values: readonly (Uint8Array | undefined)[]): string {
  return textArray(values.map((value) => value && `\\x${Buffer.from(value).toString('hex')}`));
}

/** Formats an array literal of arbitrary text; undefined becomes NULL. */
export function textArray(values: readonly (string | undefined)[]): string {
  const elements = values.map((value) =>
    value === undefined ? 'NULL' : `"${value.replaceAll(/["\\]/g, '\\$&')}"`,
  );
  return `{${elements.join(',')}}`;
}
