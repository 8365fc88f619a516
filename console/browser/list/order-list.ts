import {
  type Change,
  GoneError,
  InvalidRequestError,
  type OrderCounts,
  type OrderPage,
} from '@store-orders/client';
import { followActivity, readActivity } from '../activity/activity.ts';
import { followKey, readChangesOfKey } from '../activity/changes-of-key.ts';
import { now } from '../clock.ts';
import type { Screen } from '../screen.ts';
import { filterOf, isFiltered, orderQuery } from './address.ts';
import { addPage, applyChanges, endLoading, isEmptyStore } from './list-state.ts';

/** Changes come in bursts; the counts are read once for each. */
const COUNT_DELAY_MS = 300;
/** A count that takes long is repeated after this many times its duration. */
const COUNT_PAUSE = 10;
/** How long to wait after an error that the client library does not retry. */
const AGAIN_MS = 5_000;
/** Reads that take less time are not shown. */
const SLOW_MS = 150;
/** How long a row is tinted after another key has changed it. */
const TINT_MS = 1_000;

/** Reads the list and the counts, and follows their changes. */
export class OrderList {
  readonly #screen: Screen;
  /** Called when the order whose details are open may have changed. */
  readonly #onOpenChanged: () => void;
  /** Ends the reads of a list that is no longer shown. */
  #reading = new AbortController();
  /** Undefined while changes are not followed. */
  #following: AbortController | undefined;
  /** The cursor after the shown changes; undefined before the first page. */
  #cursor: string | undefined;
  #countTimer: ReturnType<typeof setTimeout> | undefined;
  #againTimer: ReturnType<typeof setTimeout> | undefined;
  /** The counts may be read again from this time on, by performance.now(). */
  #countAfter = 0;
  /** The numbers of the latest count, and of the first count that may be shown. */
  #countsAsked = 0;
  #countShown = 0;

  constructor(screen: Screen, onOpenChanged: () => void) {
    this.#screen = screen;
    this.#onOpenChanged = onOpenChanged;
    // A browser opens six connections to a host: only visible tabs have a stream.
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#pause();
      else void this.follow();
    });
  }

  /** Reads another list: selection and counts are of the one before. @param firstPage if it is being read already */
  async read(firstPage?: Promise<OrderPage>): Promise<void> {
    this.#screen.change((state) => {
      state.selecting?.ending.abort();
      state.selected.clear();
      state.counts = undefined;
    });
    // Earlier counts belong to the other view.
    this.#countShown = this.#countsAsked + 1;
    await this.readAgain(firstPage);
  }

  /** Reads the list from its beginning; counts and selection stay. */
  async readAgain(firstPage?: Promise<OrderPage>): Promise<void> {
    this.#reading.abort();
    this.#reading = new AbortController();
    this.#screen.set({ orders: [], next: undefined, current: undefined, newer: new Set() });
    void this.readCounts();
    await this.readPage(firstPage);
  }

  /** Reads the first page, or the next one. */
  async readPage(begun?: Promise<OrderPage>): Promise<void> {
    const { session, view, next } = this.#screen.state;
    if (session === undefined) return;
    const { signal } = this.#reading;
    clearTimeout(this.#againTimer);
    this.#screen.set({ isLoading: true, problem: undefined });
    const slow = setTimeout(() => this.#screen.set({ isSlow: true }), SLOW_MS);
    try {
      const query = { ...orderQuery(view), cursor: next };
      const page = await (begun ?? session.client.listOrders(query, { signal }));
      if (signal.aborted) return;
      this.#screen.change((state) => {
        addPage(state, page);
        if (!session.may.follow && next === undefined) state.liveUntil = now();
      });
      this.#cursor ??= page.changesAfter;
      void this.follow();
      // With a filter that few orders match, a page can be empty.
      if (page.orders.length === 0 && page.next !== undefined) await this.readPage();
    } catch (error) {
      if (signal.aborted) return;
      const problem = this.#screen.problemOf(session, error);
      // A malformed request is not retried.
      const isRetried = problem !== undefined && !(error instanceof InvalidRequestError);
      this.#screen.change((state) => {
        state.problem = isRetried ? `${problem} It is tried again by itself.` : problem;
        endLoading(state);
      });
      if (isRetried) this.#againTimer = setTimeout(() => void this.readPage(), AGAIN_MS);
    } finally {
      clearTimeout(slow);
    }
  }

  /** Reads how many orders there are, and how many match the filters. */
  async readCounts(): Promise<void> {
    const { session, view } = this.#screen.state;
    if (session === undefined) return;
    this.#countsAsked += 1;
    const asked = this.#countsAsked;
    const begun = performance.now();
    const options = { signal: session.ending.signal };
    try {
      const store = await session.client.getStore(options);
      const counts: OrderCounts = isFiltered(view)
        ? await session.client.countOrders(filterOf(view), options)
        : { ...store, exact: true };
      this.#screen.change((state) => {
        // Responses can overtake each other; the latest request counts.
        if (state.session !== session || asked < this.#countShown) return;
        this.#countShown = asked;
        Object.assign(state, { store, counts });
      });
    } catch (error) {
      if (this.#screen.problemOf(session, error) !== undefined) this.#countSoon(AGAIN_MS);
    }
    this.#countAfter = performance.now() + COUNT_PAUSE * (performance.now() - begun);
  }

  /** Ends all reads. */
  stop(): void {
    this.#reading.abort();
    this.#pause();
    this.#cursor = undefined;
    clearTimeout(this.#countTimer);
    clearTimeout(this.#againTimer);
    this.#countTimer = undefined;
  }

  /** Ends the wait for the next attempt to follow the changes. */
  async reconnect(): Promise<void> {
    this.#pause();
    if (this.#screen.state.problem !== undefined) await this.readPage();
    await this.follow();
  }

  #pause(): void {
    this.#following?.abort();
    this.#following = undefined;
  }

  /** Follows the changes of the store, until the session ends or the tab is hidden. */
  async follow(): Promise<void> {
    const { session } = this.#screen.state;
    if (session?.may.follow !== true) {
      this.#screen.set({ live: 'off' });
      return;
    }
    if (this.#following !== undefined || this.#cursor === undefined || document.hidden) return;
    this.#following = new AbortController();
    const { signal } = this.#following;
    this.#screen.change((state) => {
      if (state.live !== 'lost') state.live = 'starting';
    });
    const onLive = (isLive: boolean) => {
      if (!signal.aborted) this.#showLive(isLive);
    };
    try {
      const asked = { after: this.#cursor, signal, onLive };
      for await (const { changes, cursor } of session.client.changes(asked)) {
        if (signal.aborted) return;
        this.#cursor = cursor;
        this.#apply(changes);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#following = undefined;
      if (error instanceof GoneError) this.#beginAgain();
      else if (this.#screen.problemOf(session, error) !== undefined) {
        this.#showLive(false);
        setTimeout(() => void this.follow(), AGAIN_MS);
      }
    }
  }

  #showLive(isLive: boolean): void {
    const screen = this.#screen;
    const { problem, activity, ofKey } = screen.state;
    screen.change((state) => {
      if (!isLive && state.live === 'live') state.liveUntil = now();
      state.live = isLive ? 'live' : 'lost';
    });
    if (!isLive) return;
    // What changed between the first reads is in none of the changes that follow.
    void this.readCounts();
    this.#onOpenChanged();
    // Reads that failed during an outage are repeated.
    if (problem !== undefined) void this.readPage();
    if (activity?.problem !== undefined) void readActivity(screen);
    if (ofKey?.problem !== undefined) void readChangesOfKey(screen);
  }

  #apply(changes: readonly Change[]): void {
    const screen = this.#screen;
    const own = screen.state.session?.key.id;
    const tinted = changes.filter(({ by }) => by !== own).map(({ order }) => order.id);
    screen.change((state) => {
      applyChanges(state, changes);
      for (const id of tinted) state.changed.add(id);
    });
    // Nothing is under the pointer that could move.
    if (isEmptyStore(screen.state) && screen.state.newer.size > 0) void this.readAgain();
    setTimeout(() => {
      screen.change(({ changed }) => {
        for (const id of tinted) changed.delete(id);
      });
    }, TINT_MS);
    followActivity(screen, changes);
    followKey(screen, changes);
    this.#countSoon(Math.max(COUNT_DELAY_MS, this.#countAfter - performance.now()));
    const open = screen.state.detail?.id;
    if (changes.some(({ order }) => order.id === open)) this.#onOpenChanged();
  }

  #countSoon(ms: number): void {
    this.#countTimer ??= setTimeout(() => {
      this.#countTimer = undefined;
      void this.readCounts();
    }, ms);
  }

  /** After a restore of the store, all of it may be different. */
  #beginAgain(): void {
    this.#cursor = undefined;
    this.#screen.set({ live: 'starting', store: undefined });
    setTimeout(() => {
      void this.read();
      void readActivity(this.#screen);
      void readChangesOfKey(this.#screen);
      this.#onOpenChanged();
    }, COUNT_DELAY_MS);
  }
}
