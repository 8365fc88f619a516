import type { SQLOutputValue } from 'node:sqlite';

/** Converts an integer far below 2^53: milliseconds since the epoch, or a count. */
export function number(value: SQLOutputValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

export function integer(value: SQLOutputValue | undefined): bigint | undefined {
  return (value ?? undefined) as bigint | undefined;
}

export function text(value: SQLOutputValue | undefined): string | undefined {
  return (value ?? undefined) as string | undefined;
}

/** Formats integers for json_each, which reads every int64 exactly. */
export function jsonArray(values: readonly bigint[]): string {
  return `[${values.join()}]`;
}
