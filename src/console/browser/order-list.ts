import { GoneError } from '@store-orders/client';
import { isShown, orderQuery } from './query.ts';
import type { Screen } from './screen.ts';
import { applyChanges } from './state.ts';

/** Changes come in bursts; the counts are read once for each. */
const SUMMARY_DELAY_MS = 300;

/** Reads the list and the counts, and follows their changes. */
export class OrderList {
  readonly #screen: Screen;
  /** Called when the order whose details are open has changed. */
  readonly #onOpenChanged: () => void;
  /** Ends what a list that is no longer shown still reads. */
  #reading = new AbortController();
  #following = new AbortController();
  #summaryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(screen: Screen, onOpenChanged: () => void) {
    this.#screen = screen;
    this.#onOpenChanged = onOpenChanged;
  }

  /** Reads the list of the view from its newest order. */
  async read(): Promise<void> {
    this.#reading.abort();
    this.#reading = new AbortController();
    this.#screen.change((state) => {
      Object.assign(state, { orders: [], next: undefined, newer: 0 });
      state.selected.clear();
      state.results.clear();
    });
    void this.readSummary();
    const changes = await this.readPage();
    const { live } = this.#screen.state;
    if (changes !== undefined && live === 'starting') void this.#follow(changes);
  }

  /** Reads the first page, or the one after those that are shown. Returns its cursor of changes. */
  async readPage(): Promise<string | undefined> {
    const { session, view, next } = this.#screen.state;
    const { signal } = this.#reading;
    this.#screen.change((state) => Object.assign(state, { isLoading: true, problem: undefined }));
    try {
      const query = { ...orderQuery(view), cursor: next };
      const page = await session!.client.listOrders(query, { signal });
      this.#screen.change((state) => {
        state.orders.push(...page.orders);
        Object.assign(state, { next: page.next, isLoading: false });
      });
      // A filter that matches little can give an empty page.
      if (page.orders.length === 0 && page.next !== undefined) void this.readPage();
      return page.changes;
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#screen.failed(error, (problem) =>
        Object.assign(this.#screen.state, { isLoading: false, problem }),
      );
      return undefined;
    }
  }

  async readSummary(): Promise<void> {
    const { signal } = this.#reading;
    try {
      const summary = await this.#screen.state.session?.client.getSummary({ signal });
      this.#screen.change((state) => Object.assign(state, { summary }));
    } catch (error) {
      // The counts are read again with the next change.
      if (!signal.aborted) this.#screen.failed(error, () => {});
    }
  }

  /** Ends everything that is under way. */
  stop(): void {
    this.#reading.abort();
    this.#following.abort();
    clearTimeout(this.#summaryTimer);
  }

  /** Follows the changes of the store until the session ends. */
  async #follow(after: string): Promise<void> {
    const screen = this.#screen;
    const { session } = screen.state;
    if (session?.may.follow !== true) {
      screen.change((state) => Object.assign(state, { live: 'off' }));
      return;
    }
    this.#following = new AbortController();
    const { signal } = this.#following;
    const onLive = (isLive: boolean) => {
      if (signal.aborted) return;
      screen.change((state) => Object.assign(state, { live: isLive ? 'live' : 'lost' }));
    };
    try {
      for await (const { changes } of session.client.changes({ after, signal, onLive })) {
        screen.change((state) =>
          applyChanges(state, changes, (order) => isShown(order, state.view)),
        );
        clearTimeout(this.#summaryTimer);
        this.#summaryTimer = setTimeout(() => void this.readSummary(), SUMMARY_DELAY_MS);
        const open = screen.state.detail?.id;
        if (changes.some(({ order }) => order.id === open)) this.#onOpenChanged();
      }
    } catch (error) {
      if (signal.aborted) return;
      screen.change((state) => Object.assign(state, { live: 'starting' }));
      // The store was restored: everything may be different.
      if (error instanceof GoneError) void this.read();
      else screen.failed(error, () => {});
    }
  }
}
