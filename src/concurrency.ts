/** Tasks that wait for others to end. */
interface Waiting {
  readonly max: number;
  /** How long each waits, in milliseconds. */
  readonly limitMs: number;
}

interface Waiter {
  readonly since: number;
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/** Bounds the number of tasks that run at the same time. A bounded number of further ones wait; others are refused. */
export class ConcurrencyLimit {
  readonly #max: number;
  readonly #refusal: () => Error;
  readonly #waiting: Waiting;
  readonly #waiters: Waiter[] = [];
  #running = 0;

  /** @param refusal makes the error for tasks that neither run nor wait, or have waited for too long */
  constructor(max: number, refusal: () => Error, waiting: Waiting = { max: 0, limitMs: 0 }) {
    this.#max = max;
    this.#refusal = refusal;
    this.#waiting = waiting;
  }

  /** @throws the error of `refusal`; also whatever `task` throws */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#max) this.#running += 1;
    else await this.#turn();
    try {
      return await task();
    } finally {
      this.#end();
    }
  }

  /** Resolves when a task has ended whose place the next one takes. */
  #turn(): Promise<void> {
    if (this.#waiters.length >= this.#waiting.max) return Promise.reject(this.#refusal());
    return new Promise((begin, refuse) => {
      this.#waiters.push({ since: performance.now(), begin, refuse });
    });
  }

  #end(): void {
    for (let next = this.#waiters.shift(); next !== undefined; next = this.#waiters.shift()) {
      if (performance.now() - next.since < this.#waiting.limitMs) {
        next.begin();
        return;
      }
      // Its client has been answered.
      next.refuse(this.#refusal());
    }
    this.#running -= 1;
  }
}

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

/** Thrown when a time limit is reached; whether the operation succeeds is unknown. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/**
 * Calls `start` and resolves to its result, with a time limit. The operation is not cancelled when the time is up.
 * @param ms limit; if it is not positive, `start` is not called
 * @throws TimedOut after `ms`; also whatever `start` throws
 */
export function withTimeout<T>(ms: number, start: () => Promise<T>): Promise<T> {
  if (ms <= 0) return Promise.reject(new TimedOut('the time was up before the operation began'));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new TimedOut(`no result within ${Math.round(ms)} ms`)),
      ms,
    );
    start().then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
