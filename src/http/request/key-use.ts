/** Pause after a failed attempt. */
const RETRY_AFTER_MS = 60_000;

/**
 * Records when keys were last used. At most one write is active and none is queued: a use that is not recorded is
 * offered again at the next lookup of the key.
 */
export class KeyUse {
  readonly #record: (keyIds: readonly string[], at: number) => Promise<void>;
  #isRecording = false;
  /** In the time of performance.now(). */
  #notBefore = 0;

  constructor(record: (keyIds: readonly string[], at: number) => Promise<void>) {
    this.#record = record;
  }

  offer(keyIds: readonly string[], at: number): void {
    if (this.#isRecording || performance.now() < this.#notBefore) return;
    this.#isRecording = true;
    this.#record(keyIds, at)
      .catch(() => {
        this.#notBefore = performance.now() + RETRY_AFTER_MS;
      })
      .finally(() => {
        this.#isRecording = false;
      });
  }
}
