/** Runs asynchronous tasks one at a time, in order of submission. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `task` after all earlier tasks have settled; resolves or rejects with its result. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task, task);
    this.#last = result;
    return result;
  }
}
