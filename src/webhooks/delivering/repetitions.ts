const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits after the first failures of a delivery; later ones are an hour each. */
const WAITS_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS];
const LONGEST_WAIT_MS = HOUR_MS;
/** Waits are up to a tenth longer, so that endpoints that failed together are not tried together. */
const JITTER = 0.1;
/** An endpoint that has failed for so long is paused; it keeps its cursor. */
export const GIVE_UP_AFTER_MS = 3 * 24 * HOUR_MS;

/**
 * Returns when a delivery is tried again, in milliseconds from now.
 * @param failures how often it has failed, 1 or more
 * @param retryAfterMs what the endpoint has asked for, up to an hour
 * @param random from 0 to 1
 */
export function waitAfter(failures: number, retryAfterMs = 0, random = Math.random()): number {
  const wait = WAITS_MS[failures - 1] ?? LONGEST_WAIT_MS;
  const asked = Math.min(retryAfterMs, LONGEST_WAIT_MS);
  return Math.round(Math.max(wait, asked) * (1 + JITTER * random));
}
