/** Bounds the number of tasks that run at the same time. Further tasks are refused at once instead of queued. */
export class ConcurrencyLimit {
  readonly #max: number;
  readonly #refusal: () => Error;
  #running = 0;

  /** @param refusal makes the error for tasks beyond `max` */
  constructor(max: number, refusal: () => Error) {
    this.#max = max;
    this.#refusal = refusal;
  }

  /** @throws the error of `refusal` if `max` tasks are running; also whatever `task` throws */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#max) throw this.#refusal();
    this.#running += 1;
    try {
      return await task();
    } finally {
      this.#running -= 1;
    }
  }
}
