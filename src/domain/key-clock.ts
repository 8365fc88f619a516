/** Tolerated difference between the clocks of nodes, database and commands. */
export const CLOCK_TOLERANCE_MS = 5_000;

/**
 * The clock that keys expire by. It never goes backwards: if the system clock is set back, it stands still until the
 * system clock has caught up, so that an expired key stays expired.
 */
export class KeyClock {
  readonly #timeOfDay: () => number;
  #latest = 0;

  /** @param timeOfDay returns milliseconds since the epoch */
  constructor(timeOfDay: () => number = Date.now) {
    this.#timeOfDay = timeOfDay;
  }

  /** Returns the current time in milliseconds since the epoch. */
  now(): number {
    return this.notBefore(this.#timeOfDay());
  }

  /** Advances the clock to at least `at`, the time of an event that has happened, and returns the time. */
  notBefore(at: number): number {
    this.#latest = Math.max(this.#latest, at);
    return this.#latest;
  }

  /** Returns how many milliseconds the system clock is behind this clock. */
  behindMs(): number {
    return this.now() - this.#timeOfDay();
  }
}
