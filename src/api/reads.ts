import { FairLimit } from '../concurrency.ts';
import type { ApiKey } from '../domain/api-key.ts';
import { expectTime } from '../http/request/exchange.ts';
import { Refused, refuse } from '../http/request/reply.ts';
import { StoreUnavailable } from '../store/store.ts';

/** Reads of one key that wait, and for how long. Longer, and too little of the time of the request would be left. */
const WAITING = { maxWaiting: 500, waitMs: 1_000 };
/** Pages, and counts, that are read at a time, and those of one key. */
export const MAX_PAGES = { max: 8, maxOfOne: 2, ...WAITING };
export const MAX_COUNTS = { max: 4, maxOfOne: 1, ...WAITING };

/** A page, of orders, changes or webhooks; or a count of orders or changes. */
export type ReadKind = 'page' | 'count';

/**
 * The reads that cost more than a row, carried out in turn by key: a client waits for a read or two of every other client, however many requests
 * these send. A count examines many rows, so those of a key are carried out one by one.
 */
export class Reads {
  readonly #limits = {
    page: new FairLimit(MAX_PAGES, refusalOf),
    count: new FairLimit(MAX_COUNTS, refusalOf),
  };

  /**
   * Carries out a read of a request, from the store to the bytes of the reply, when it is its key's turn.
   * @throws Refused with 429, or StoreUnavailable if the reads of other keys leave no time; TimedOut after the deadline
   */
  run<T>(
    kind: ReadKind,
    request: { readonly key: ApiKey; readonly answerBy: number },
    read: () => T | Promise<T>,
  ): Promise<T> {
    return this.#limits[kind].run(request.key.id, () => {
      expectTime(request);
      return read();
    });
  }
}

function refusalOf(isOwnLoad: boolean): Error {
  return isOwnLoad
    ? new Refused(refuse('read_limit_reached'))
    : new StoreUnavailable('too many requests are reading', 'slow');
}
