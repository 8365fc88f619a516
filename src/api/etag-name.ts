import type { Moment } from '../orders/heads.ts';

/** Digits of a head in an ETag: 64 bits. */
const DIGITS = 16;

/** Returns the name of a moment in ETags; no two states of a store have the same. */
export function etagName({ revision, head }: Moment): string {
  return `${revision}-${head.slice(0, DIGITS)}`;
}
