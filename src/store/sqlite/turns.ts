import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { Mutex } from '../../concurrency.ts';
import type { Session } from './database/session.ts';

/** Work that took longer than this is followed by a pause, in which the writer and other requests can use the CPU core. */
const LONG_MS = 0.5;
const PAUSE_MS = 1;

/** What a store reads with: a session for single statements, further ones for reads with snapshots of their own, and turns for long reads. */
export interface Reading {
  readonly session: Session;
  readonly openSession: () => Session;
  readonly turns: Turns;
}

/** Runs one piece of work per turn of the event loop, so that long work hardly delays other requests. */
export class Turns {
  readonly #mutex = new Mutex();

  run<T>(work: () => T | Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      await nextTurn();
      const begin = performance.now();
      try {
        return await work();
      } finally {
        if (performance.now() - begin > LONG_MS) await pause(PAUSE_MS);
      }
    });
  }
}
