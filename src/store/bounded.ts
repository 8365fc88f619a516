import { StoreUnavailable } from './store.ts';

/** Bounds how much work waits at the same time; further work is refused at once, rather than done too late. */
export class Bounded {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @throws StoreUnavailable if too much work is waiting; also whatever `work` throws */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#count >= this.#most) {
      throw new StoreUnavailable('too many requests are reading', 'slow');
    }
    this.#count += 1;
    try {
      return await work();
    } finally {
      this.#count -= 1;
    }
  }
}
