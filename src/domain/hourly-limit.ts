/** What a key can be limited in, per hour. */
export const LIMITED_ACTIONS = ['cancel', 'place'] as const;

/** The window in which the cancels or placements of a limited key are counted. */
export const LIMIT_WINDOW_MS = 3_600_000;

/** How many orders a key has cancelled, or placed, in one second, as stored. */
export interface HourlyUse {
  /** End of the second, in seconds since the epoch. */
  readonly second: number;
  readonly count: number;
}

/** Returns the second to which an action at `now` (milliseconds since the epoch) is counted. */
export function secondOf(now: number): number {
  return Math.floor(now / 1000) + 1;
}

/** The cancels, or placements, that a limited key may still make: at most `limit` in any hour. */
export class Allowance {
  readonly limit: number;
  readonly #now: number;
  /**
   * Uses within the hour before `now`, oldest first. Those of the next hour count, too, since the clocks of nodes differ; later ones are of a clock that
   * was wrong, and would lock the key out for as long.
   */
  readonly #recent: readonly HourlyUse[];
  #used: number;
  /** What was taken from this allowance, to be stored. */
  taken = 0;

  /**
   * @param uses stored uses of the key, in any order
   * @param now milliseconds since the epoch
   */
  constructor(limit: number, uses: readonly HourlyUse[], now: number) {
    this.limit = limit;
    this.#now = now;
    this.#recent = uses
      .filter(({ second }) => Math.abs(second * 1000 - now) < LIMIT_WINDOW_MS)
      .toSorted((a, b) => a.second - b.second);
    this.#used = this.#recent.reduce((sum, { count }) => sum + count, 0);
  }

  take(): boolean {
    if (!this.has(1)) return false;
    this.#used += 1;
    this.taken += 1;
    return true;
  }

  has(count: number): boolean {
    return this.#used + count <= this.limit;
  }

  /**
   * Returns when `wanted` at once will be possible, in milliseconds since the epoch, unless the key makes others before. `wanted` must
   * not exceed the limit.
   */
  retryAt(wanted = 1): number {
    let used = this.#used;
    for (const { second, count } of this.#recent) {
      used -= count;
      if (used + wanted <= this.limit) return second * 1000 + LIMIT_WINDOW_MS;
    }
    return secondOf(this.#now) * 1000 + LIMIT_WINDOW_MS;
  }
}
