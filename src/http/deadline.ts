import type { CommandQueue } from '../orders/command-queue.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { Exchange } from './exchange.ts';

/**
 * What `ask` gives, if it comes while the request can still be answered in time; what the store does
 * after that nobody waits for.
 * @throws StoreUnavailable when time is up; then `ask` may not even have been called.
 */
export function inTime<T>(exchange: Exchange, ask: () => Promise<T>): Promise<T> {
  return within(timeLeft(exchange), ask);
}

/** Requests whose time is up within as many milliseconds of each other wait together. */
const TOGETHER_MS = 20;

/** What `inTime` does, for requests of which many wait for the same: one timer for all of them. */
export class SharedWait<T> {
  /** What was waited for last, until when, and how that ends. */
  #asked: Promise<T> | undefined;
  #until = 0;
  #answered: Promise<T> | undefined;

  /** @throws StoreUnavailable when time is up; then `ask` may not even have been called. */
  inTime(exchange: Exchange, ask: () => Promise<T>): Promise<T> {
    const left = timeLeft(exchange);
    if (left <= 0) return within(left, ask);
    const asked = ask();
    const isNear = Math.abs(exchange.answerBy - this.#until) < TOGETHER_MS;
    if (asked !== this.#asked || !isNear) {
      this.#asked = asked;
      this.#until = exchange.answerBy;
      this.#answered = within(left, () => asked).finally(() => this.#forget(asked));
    }
    return this.#answered!;
  }

  /** An old list is not kept in memory for having been waited for last. */
  #forget(asked: Promise<T>): void {
    if (this.#asked !== asked) return;
    this.#asked = undefined;
    this.#answered = undefined;
  }
}

/** A queue for commands whose outcomes are awaited no longer than the requests that bring them may last. */
export class QueueInTime<Command, Outcome> {
  readonly #queue: CommandQueue<Command, Outcome>;
  readonly #waits = new SharedWait<readonly Outcome[]>();

  constructor(queue: CommandQueue<Command, Outcome>) {
    this.#queue = queue;
  }

  /** @throws what `CommandQueue.submit` and `inTime` do; then `command` may not even have been submitted. */
  async outcomeOf(exchange: Exchange, command: Command): Promise<Outcome> {
    let index = 0;
    const outcomes = await this.#waits.inTime(exchange, () => {
      const submission = this.#queue.submit(command);
      index = submission.index;
      return submission.outcomes;
    });
    return outcomes[index] as Outcome;
  }
}

/** Milliseconds in which the request can still be answered in time; may be negative. */
export function timeLeft({ answerBy }: Exchange): number {
  return answerBy - performance.now();
}

/** @throws StoreUnavailable after `ms`; whatever `ask` throws. */
export function within<T>(ms: number, ask: () => Promise<T>): Promise<T> {
  if (ms <= 0)
    return Promise.reject(new StoreUnavailable('no time was left to ask the store', 'slow'));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new StoreUnavailable('the store has not answered in time', 'slow')),
      ms,
    );
    ask().then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
