// How changes reach their followers:
//
//   poll    LiveFeed reads new changes every 100 ms, once for all followers, as long as one waits for them.
//   wait    A follower that has read everything waits in `changed`, until LiveFeed has found changes after its position.
//   share   Followers at one position share a read, and for 100 ms its page: SharedReads.
//
// Streams and commands `follow`. Deliveries read pages by SharedReads at their own pace: each begins where its endpoint is.
import { type Position, positionText } from '../../protocol/history.ts';
import { Mutex } from '../concurrency.ts';
import { type ChangePage, type FeedStart, MAX_CHANGES } from '../store/feed.ts';
import type { Store } from '../store/store.ts';

/** See Store.feed. @param wanted if it is aborted before the read begins, nothing is read, and the result is undefined */
export type ReadFeed = (
  after: FeedStart,
  limit: number,
  wanted?: { readonly aborted: boolean },
) => Promise<ChangePage | undefined>;

/** The position is no longer valid: the store was restored or lost changes. The message is for the operator. */
export class PositionLost extends Error {
  override readonly name = 'PositionLost';

  constructor() {
    super('the cursor is no longer valid: the store was restored or lost changes');
  }
}

export interface Followed {
  readonly read: ReadFeed;
  /** Resolves when there may be changes after a position, or once `signal` is aborted. */
  readonly changed: (after: Position, signal: AbortSignal) => Promise<void>;
}

/**
 * Returns the changes after a position, page by page, as they happen; a page can be empty. Ends once `signal` is aborted.
 * @throws PositionLost; also errors of the store
 */
export async function* follow(
  { read, changed }: Followed,
  after: FeedStart,
  signal: AbortSignal,
): AsyncGenerator<ChangePage, void, undefined> {
  for (let from = after; !signal.aborted; ) {
    const page: ChangePage | undefined = await read(from, MAX_CHANGES, signal);
    if (signal.aborted) return;
    if (page === undefined) throw new PositionLost();
    yield page;
    from = page.position;
    if (!page.isMore) await changed(page.position, signal);
  }
}

/** How long a page is reused: followers that keep up read the same pages. */
const USED_AGAIN_MS = 100;
/** Maximum number of pages that are kept. */
const MAX_KEPT = 64;

/**
 * Reads of the feed, shared by followers at the same position. Pages are read one at a time, so that many followers that catch up leave room for
 * the reads of clients.
 */
export class SharedReads {
  readonly #feed: Store['feed'];
  readonly #mutex = new Mutex();
  readonly #kept = new Map<string, ChangePage>();
  /** Reads that every follower may share, also their errors. */
  readonly #reading = new Map<string, Promise<ChangePage | undefined>>();

  constructor(feed: Store['feed']) {
    this.#feed = feed;
  }

  readonly read: ReadFeed = async (after, limit, wanted) => {
    const name = nameOf(after, limit);
    const kept = this.#kept.get(name);
    if (kept !== undefined) return kept;
    if (wanted !== undefined) return this.#readInTurn(after, limit, wanted);
    const reading =
      this.#reading.get(name) ??
      this.#readInTurn(after, limit).finally(() => this.#reading.delete(name));
    this.#reading.set(name, reading);
    return reading;
  };

  #readInTurn(after: FeedStart, limit: number, wanted?: { readonly aborted: boolean }) {
    return this.#mutex.run(async () => {
      const known = this.#kept.get(nameOf(after, limit));
      if (known !== undefined || wanted?.aborted) return known;
      const page = await this.#feed(after, limit);
      if (page !== undefined) this.keep(after, limit, page);
      return page;
    });
  }

  /** Keeps a page for the next followers; not one without changes, which they would read again and again instead of later changes. */
  keep(after: FeedStart, limit: number, page: ChangePage): void {
    if (page.changes.length === 0 || this.#kept.size >= MAX_KEPT) return;
    const name = nameOf(after, limit);
    this.#kept.set(name, page);
    setTimeout(() => this.#kept.delete(name), USED_AGAIN_MS).unref();
  }
}

function nameOf(start: FeedStart, limit: number): string {
  return `${typeof start === 'string' ? start : positionText(start)} ${limit}`;
}

/** How often new changes are read while a follower waits for them. */
const POLL_MS = 100;

interface LiveFeedParts {
  readonly feed: Store['feed'];
  /** Called before each read of new changes. If it fails, the read is retried. */
  readonly beforeRead: () => Promise<void>;
  /** Called when new changes cannot be read; the read is retried. @param isFirst whether the read before had succeeded */
  readonly onError: (error: unknown, isFirst: boolean) => void;
}

/** A feed for many followers: new changes are read once for all that have caught up. A follower ends with the error of a failed `read`. */
export class LiveFeed implements Followed {
  readonly #parts: LiveFeedParts;
  readonly #reads: SharedReads;
  readonly #waiting = new Set<PromiseWithResolvers<void>>();
  /** New changes have been read up to here; undefined while no follower waits for them. */
  #position: Position | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;
  #isFailing = false;

  constructor(parts: LiveFeedParts) {
    this.#parts = parts;
    this.#reads = new SharedReads(parts.feed);
  }

  readonly read: ReadFeed = (after, limit, wanted) => this.#reads.read(after, limit, wanted);

  readonly changed = async (after: Position, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    this.#position ??= after;
    if (after.revision < this.#position.revision) return;
    const waiting = Promise.withResolvers<void>();
    const stop = () => waiting.resolve();
    this.#waiting.add(waiting);
    signal.addEventListener('abort', stop);
    this.#timer ??= setInterval(() => void this.#readNew(), POLL_MS);
    try {
      await waiting.promise;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#waiting.delete(waiting);
      this.#restUnlessAwaited();
    }
  };

  async #readNew(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      do await this.#parts.beforeRead();
      while (this.#position !== undefined && (await this.#readPage(this.#position)));
      this.#isFailing = false;
    } catch (error) {
      const isFirst = !this.#isFailing;
      this.#isFailing = true;
      this.#parts.onError(error, isFirst);
    } finally {
      this.#isReading = false;
      this.#restUnlessAwaited();
    }
  }

  /** Reads the next new changes, and wakes the followers that wait for them. @returns whether there are more */
  async #readPage(from: Position): Promise<boolean> {
    const page = await this.#parts.feed(from, MAX_CHANGES);
    if (page === undefined) {
      this.#position = undefined;
      for (const { reject } of this.#waiting) reject(new PositionLost());
      return false;
    }
    if (page.changes.length === 0) return false;
    this.#reads.keep(from, MAX_CHANGES, page);
    this.#position = page.position;
    for (const { resolve } of this.#waiting) resolve();
    return page.isMore;
  }

  /** Stops reading until a follower waits again. */
  #restUnlessAwaited(): void {
    if (this.#isReading || this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#position = undefined;
  }
}
