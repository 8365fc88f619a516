import { setTimeout as pause } from 'node:timers/promises';

/** A load balancer that has asked for readiness within this time is given the time to hear of the stop. */
const ASKED_WITHIN_MS = 60_000;

/** Whether requests should be sent to this process, and how those that send them hear that it will stop. */
export class Readiness {
  readonly #whyNotReady: () => Promise<string | undefined>;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isDraining = false;

  /** @param whyNotReady why the service cannot answer now; undefined if it can */
  constructor(whyNotReady: () => Promise<string | undefined>) {
    this.#whyNotReady = whyNotReady;
  }

  /** As a load balancer asks. */
  async whyNot(): Promise<string | undefined> {
    this.#askedAt = performance.now();
    return this.#isDraining ? 'stopping' : this.#whyNotReady();
  }

  /**
   * Says "not ready" from now on, and resolves when that has had `ms` to be heard; at once if nobody has
   * asked lately. Requests are still to be served meanwhile.
   */
  async drain(ms: number): Promise<void> {
    this.#isDraining = true;
    if (performance.now() - this.#askedAt < ASKED_WITHIN_MS) await pause(ms);
  }
}
