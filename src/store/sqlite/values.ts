import type { SQLOutputValue } from 'node:sqlite';

/** Converts a time; milliseconds since the epoch are far below 2^53, so the conversion to number is exact. */
export function time(value: SQLOutputValue | undefined): number | undefined {
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
