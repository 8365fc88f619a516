import { setImmediate as nextTurn } from 'node:timers/promises';
import { Sequence } from '../sequence.ts';

/** Runs work one piece in each turn of the event loop, so that much of it delays other requests little. */
export class Turns {
  readonly #sequence = new Sequence();

  run<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#sequence.run(async () => {
      await nextTurn();
      return work();
    });
  }
}
