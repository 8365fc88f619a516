import { INT64_MAX, type OrderId } from './order.ts';

/** The ids that a store may assign to orders without one: those above `highest`, up to `last`. */
export interface FreeIds {
  /** The highest id that is taken or reserved, of those up to `last`; 0 if there is none. */
  readonly highest: OrderId;
  readonly last: OrderId;
}

export const ALL_IDS: FreeIds = { highest: 0n, last: INT64_MAX };

/** A store that starts a new history, as after a restore, assigns ids from the next multiple of this number: decision 040. */
const LEAP = 1_000_000_000n;

/** Minimum number of ids that a leap skips, even if the store has assigned none since the last leap. */
const LEAST_SKIPPED = LEAP / 10n;

/** With fewer ids left, operators are warned, and imports that would leave fewer are refused: enough for 1,000 leaps. */
export const FEW_IDS = 1_000n * LEAP;

export function idsLeft({ highest, last }: FreeIds): bigint {
  return last - highest;
}

/**
 * Returns the last id that a store skips when it starts a new history, and the other history may have assigned ids up to `highest`. It is the id
 * before the next multiple of LEAP, or before the multiple after it if fewer than LEAST_SKIPPED ids would be skipped. The trigger `leap` of
 * migration 010 has the same rule.
 */
export function leapAbove({ highest, last }: FreeIds): OrderId {
  const end = ((highest + LEAST_SKIPPED) / LEAP + 1n) * LEAP - 1n;
  return end < last ? end : last;
}
