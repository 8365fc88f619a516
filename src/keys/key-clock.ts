/**
 * The time by which keys expire. It does not go back: where the machine's clock is set back, it stands still until that has
 * caught up, so that a key that has expired stays so.
 */
export class KeyClock {
  readonly #timeOfDay: () => number;
  #latest = 0;

  /** @param timeOfDay in milliseconds since the epoch */
  constructor(timeOfDay: () => number = Date.now) {
    this.#timeOfDay = timeOfDay;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.notBefore(this.#timeOfDay());
  }

  /** Something has happened at `at`, so it is no earlier now. */
  notBefore(at: number): number {
    this.#latest = Math.max(this.#latest, at);
    return this.#latest;
  }

  /** Milliseconds by which the machine's clock is behind what has been. */
  behindMs(): number {
    return this.now() - this.#timeOfDay();
  }
}
