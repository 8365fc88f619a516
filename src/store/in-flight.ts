import { StoreUnavailable } from './store.ts';

/** Counts the reads and writes of a store that are in progress, so that closing the store can wait for them. */
export class InFlight {
  #running = 0;
  #isClosing = false;
  #whenIdle: (() => void) | undefined;

  /** @throws StoreUnavailable once the store is closed; also whatever `operation` throws */
  async run<T>(operation: () => T | Promise<T>): Promise<T> {
    if (this.#isClosing) throw new StoreUnavailable('the store is closed', 'unreachable');
    this.#running += 1;
    try {
      return await operation();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#whenIdle?.();
    }
  }

  /** Refuses further operations, and resolves when those in progress have ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
    });
  }
}
