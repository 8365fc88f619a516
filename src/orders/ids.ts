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

/** Ids that a leap skips at least, also for a store that has leapt and given none since. */
const LEAST_SKIPPED = LEAP / 10n;

/** With fewer ids left, operators are warned, and imports that would leave fewer are refused: enough for 1,000 leaps. */
export const FEW_IDS = 1_000n * LEAP;

export function idsLeft({ highest, last }: FreeIds): bigint {
  return last - highest;
}

/**
 * Returns the last id that is skipped by a store that begins another history, in which ids up to `highest` may have been
 * given: the one before the next multiple of LEAP or, where that is near, the one after. The trigger `leap` of migration 010 has
 * the same rule.
 */
export function leapAbove({ highest, last }: FreeIds): OrderId {
  const end = ((highest + LEAST_SKIPPED) / LEAP + 1n) * LEAP - 1n;
  return end < last ? end : last;
}
