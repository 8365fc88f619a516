import { INT64_MAX, type OrderId } from './order.ts';

/** The ids that a store may give to orders without one: those above `highest`, up to `last`. */
export interface FreeIds {
  /** The highest id that is taken or reserved, of those up to `last`; 0 if there is none. */
  readonly highest: OrderId;
  readonly last: OrderId;
}

export const ALL_IDS: FreeIds = { highest: 0n, last: INT64_MAX };

/** A store that begins another history gives ids from the next multiple of this on: decision 040. */
const LEAP = 1_000_000_000n;

/** With fewer ids left, operators are warned, and imports that would leave fewer are refused: enough for 1,000 leaps. */
export const FEW_IDS = 1_000n * LEAP;

export function idsLeft({ highest, last }: FreeIds): bigint {
  return last - highest;
}

/**
 * Returns the last id that is skipped by a store that begins another history, in which ids up to `highest` may have been
 * given. The trigger `leap` of migration 010 has the same rule.
 */
export function leapAbove({ highest, last }: FreeIds): OrderId {
  const end = (highest / LEAP + 1n) * LEAP - 1n;
  return end < last ? end : last;
}
