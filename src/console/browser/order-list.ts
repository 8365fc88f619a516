import { GoneError, type OrderRecord } from '@store-orders/client';
import { followActivity, readActivity } from './activity.ts';
import { isShown, orderQuery } from './query.ts';
import type { Screen } from './screen.ts';
import type { Session } from './session.ts';
import { addPage, applyChanges, endLoading } from './state.ts';

/** Changes come in bursts; the counts are read once for each. */
const SUMMARY_DELAY_MS = 300;
/** How long to wait after an error that the client library does not repeat. */
const FOLLOW_AGAIN_MS = 5_000;

/** Reads the list and the counts, and follows their changes. */
export class OrderList {
  readonly #screen: Screen;
  /** Called when the order whose details are open may have changed. */
  readonly #onOpenChanged: () => void;
  /** Ends what a list that is no longer shown still reads. */
  #reading = new AbortController();
  /** Undefined while changes are not followed. */
  #following: AbortController | undefined;
  /** Behind the changes that are shown; undefined before the first page. */
  #cursor: string | undefined;
  #summaryTimer: ReturnType<typeof setTimeout> | undefined;
  /** Numbers of the summaries that were asked for, and of the one that is shown. */
  #summariesAsked = 0;
  #summaryShown = 0;

  constructor(screen: Screen, onOpenChanged: () => void) {
    this.#screen = screen;
    this.#onOpenChanged = onOpenChanged;
    // A browser opens six connections to a host: only tabs that are looked at have a stream.
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#pause();
      else void this.#follow();
    });
  }

  /** Reads the list of the view from its newest order. */
  async read(): Promise<void> {
    this.#reading.abort();
    this.#reading = new AbortController();
    this.#screen.change((state) => {
      Object.assign(state, { orders: [], next: undefined, outcome: undefined });
      for (const each of [state.newer, state.selected, state.results]) each.clear();
    });
    void this.readSummary();
    await this.readPage();
  }

  /** Reads the first page, or the one after those that are shown. */
  async readPage(): Promise<void> {
    const { session, view, next } = this.#screen.state;
    if (session === undefined) return;
    const { signal } = this.#reading;
    const shows = (order: OrderRecord) => isShown(order, view);
    this.#screen.change((state) => Object.assign(state, { isLoading: true, problem: undefined }));
    try {
      const page = await session.client.listOrders(
        { ...orderQuery(view), cursor: next },
        { signal },
      );
      this.#screen.change((state) => addPage(state, page, shows));
      this.#cursor ??= page.changes;
      void this.#follow();
      // A filter that matches little can give an empty page.
      if (page.orders.length === 0 && page.next !== undefined) await this.readPage();
    } catch (error) {
      if (signal.aborted) return;
      const problem = this.#screen.problemOf(session, error);
      this.#screen.change((state) => {
        state.problem = problem;
        endLoading(state, shows);
      });
    }
  }

  async readSummary(): Promise<void> {
    const { session } = this.#screen.state;
    if (session === undefined) return;
    this.#summariesAsked += 1;
    const asked = this.#summariesAsked;
    try {
      const summary = await session.client.getSummary({ signal: session.ending.signal });
      this.#screen.change((state) => {
        // Responses can overtake each other; what was asked for later is later.
        if (state.session !== session || asked < this.#summaryShown) return;
        this.#summaryShown = asked;
        state.summary = summary;
      });
    } catch (error) {
      // The counts are read again with the next change.
      this.#screen.problemOf(session, error);
    }
  }

  /** Ends everything that is under way. */
  stop(): void {
    this.#reading.abort();
    this.#pause();
    this.#cursor = undefined;
    clearTimeout(this.#summaryTimer);
    this.#summaryTimer = undefined;
  }

  #pause(): void {
    this.#following?.abort();
    this.#following = undefined;
  }

  /** Follows the changes of the store, until the session ends or the tab is hidden. */
  async #follow(): Promise<void> {
    const { session } = this.#screen.state;
    if (session?.may.follow !== true) {
      this.#screen.change((state) => Object.assign(state, { live: 'off' }));
      return;
    }
    if (this.#following !== undefined || this.#cursor === undefined || document.hidden) return;
    const following = new AbortController();
    this.#following = following;
    this.#screen.change((state) => Object.assign(state, { live: 'starting' }));
    const { signal } = following;
    try {
      await this.#followOn(session, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#following = undefined;
      if (error instanceof GoneError) this.#beginAgain();
      else if (this.#screen.problemOf(session, error) !== undefined) {
        this.#screen.change((state) => Object.assign(state, { live: 'lost' }));
        setTimeout(() => void this.#follow(), FOLLOW_AGAIN_MS);
      }
    }
  }

  async #followOn({ client }: Session, signal: AbortSignal): Promise<void> {
    const screen = this.#screen;
    const onLive = (isLive: boolean) => {
      if (signal.aborted) return;
      screen.change((state) => Object.assign(state, { live: isLive ? 'live' : 'lost' }));
    };
    const after = this.#cursor!;
    for await (const { changes, cursor } of client.changes({ after, signal, onLive })) {
      if (signal.aborted) return;
      this.#cursor = cursor;
      screen.change((state) => applyChanges(state, changes, (order) => isShown(order, state.view)));
      followActivity(screen, changes);
      this.#summaryTimer ??= setTimeout(() => {
        this.#summaryTimer = undefined;
        void this.readSummary();
      }, SUMMARY_DELAY_MS);
      const open = screen.state.detail?.id;
      if (changes.some(({ order }) => order.id === open)) this.#onOpenChanged();
    }
  }

  /** After a restore of the store everything may be different. */
  #beginAgain(): void {
    this.#cursor = undefined;
    this.#screen.change((state) => Object.assign(state, { live: 'starting', summary: undefined }));
    setTimeout(() => {
      void this.read();
      void readActivity(this.#screen);
      this.#onOpenChanged();
    }, SUMMARY_DELAY_MS);
  }
}
