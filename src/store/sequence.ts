/** Work that is done one piece after another, in the order it came. */
export class Sequence {
  #last: Promise<unknown> = Promise.resolve();

  /** Begins `work` when what came before has ended, well or not; what comes of it. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result;
    return result;
  }

  /** When all that came so far has ended. */
  async idle(): Promise<void> {
    await this.#last.catch(() => {});
  }
}
