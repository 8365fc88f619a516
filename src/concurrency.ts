/** Bounds the number of tasks that run at the same time. Others are refused. */
export class ConcurrencyLimit {
  readonly #max: number;
  readonly #refusal: () => Error;
  #running = 0;

  /** @param refusal makes the error for tasks beyond the limit */
  constructor(max: number, refusal: () => Error) {
    this.#max = max;
    this.#refusal = refusal;
  }

  /** @throws the error of `refusal`; also whatever `task` throws */
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

interface FairLimits {
  /** Tasks that run at the same time. */
  readonly max: number;
  /** Those of one owner. */
  readonly maxOfOne: number;
  /** Tasks of one owner that wait. */
  readonly maxWaiting: number;
  /** How long each waits, in milliseconds. */
  readonly waitMs: number;
}

/**
 * Bounds the number of tasks that run at the same time. Others wait, and begin in turn by their owners: an owner with one task waits as long,
 * however many tasks the others have.
 */
export class FairLimit {
  readonly #limits: FairLimits;
  readonly #refusal: (isOwnLoad: boolean) => Error;
  /** By owner. */
  readonly #running = new Map<string, number>();
  /** By owner; the next one in turn is the first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #total = 0;

  /** @param refusal makes the error for tasks that may not wait, or have waited for too long; `isOwnLoad`: behind others of their owner */
  constructor(limits: FairLimits, refusal: (isOwnLoad: boolean) => Error) {
    this.#limits = limits;
    this.#refusal = refusal;
  }

  /** @throws the error of `refusal`; also whatever `task` throws */
  async run<T>(owner: string, task: () => T | Promise<T>): Promise<T> {
    if (this.#total < this.#limits.max && this.#mayBegin(owner)) this.#begin(owner);
    else await this.#turn(owner);
    try {
      return await task();
    } finally {
      this.#end(owner);
    }
  }

  #mayBegin(owner: string): boolean {
    return (this.#running.get(owner) ?? 0) < this.#limits.maxOfOne;
  }

  #begin(owner: string): void {
    this.#total += 1;
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1);
  }

  /** Resolves when the task has begun. */
  #turn(owner: string): Promise<void> {
    const waiting = this.#waiting.get(owner) ?? [];
    if (waiting.length >= this.#limits.maxWaiting) return Promise.reject(this.#refusal(true));
    this.#waiting.set(owner, waiting);
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        this.#begin(owner);
        resolve();
      };
      const giveUp = () => {
        waiting.splice(waiting.indexOf(begin), 1);
        if (waiting.length === 0) this.#waiting.delete(owner);
        reject(this.#refusal(waiting.length > 0 || this.#running.has(owner)));
      };
      const timer = setTimeout(giveUp, this.#limits.waitMs);
      waiting.push(begin);
    });
  }

  #end(owner: string): void {
    this.#total -= 1;
    const left = this.#running.get(owner)! - 1;
    if (left === 0) this.#running.delete(owner);
    else this.#running.set(owner, left);
    // The place of one task is free, for one that waits.
    for (const [next, waiting] of this.#waiting) {
      if (!this.#mayBegin(next)) continue;
      this.#waiting.delete(next);
      const begin = waiting.shift()!;
      if (waiting.length > 0) this.#waiting.set(next, waiting);
      begin();
      return;
    }
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
