/** Between two attempts, after one that failed. */
const RETRY_AFTER_MS = 60_000;

/**
 * Records when keys were last used. At most one write is under way, and none waits: what is not recorded now is offered
 * again when the key is looked up next.
 */
export class KeyUse {
  readonly #record: (keyIds: readonly string[], at: number) => Promise<void>;
  #isRecording = false;
  /** On the clock of performance.now(). */
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
