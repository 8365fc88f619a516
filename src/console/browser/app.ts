import { GoneError } from '@store-orders/client';
import { render } from 'lit-html';
import type { Actions } from './actions.ts';
import { inWords } from './format.ts';
import { isShown, orderQuery, parseId, searchOf, type View, viewOf } from './query.ts';
import { isSignedOut, signIn, signOut, storedKey } from './session.ts';
import { applyChanges, initialState, type State } from './state.ts';
import { page } from './views.ts';

/** Changes come in bursts; the counts are read once for each. */
const SUMMARY_DELAY_MS = 300;
/** Orders that are cancelled or shipped at the same time. */
const ACTING_AT_ONCE = 4;

/** The console: what is shown, and what changes it. */
export class App {
  readonly #element: HTMLElement;
  readonly #root: string;
  readonly #state: State = initialState(viewOf(location.search));
  #isDrawing = false;
  /** Ends what a list that is no longer shown still reads. */
  #listing = new AbortController();
  #following = new AbortController();
  #summaryTimer: ReturnType<typeof setTimeout> | undefined;

  /** @param root what precedes /v2 in the URLs of the service */
  constructor(element: HTMLElement, root: string) {
    this.#element = element;
    this.#root = root;
  }

  start(): void {
    addEventListener('popstate', () => void this.#show(viewOf(location.search)));
    addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && this.#state.detail)
        this.#go({ ...this.#state.view, order: undefined });
    });
    const key = storedKey();
    if (key !== null) void this.#signIn(key);
    this.#draw();
  }

  readonly #actions: Actions = {
    signIn: (event) => {
      event.preventDefault();
      void this.#signIn(formOf(event).get('key') ?? '');
    },
    signOut: () => this.#signOut(undefined),
    jump: (event) => {
      event.preventDefault();
      const order = parseId(formOf(event).get('id') ?? '');
      if (order !== undefined) this.#go({ ...this.#state.view, order });
    },
    filter: (event) => {
      event.preventDefault();
      const form = formOf(event);
      const [petId, shipFrom, shipBefore] = ['pet', 'from', 'before'].map(
        (name) => form.get(name) ?? '',
      );
      const view = { petId: parseId(petId!), shipFrom: shipFrom!, shipBefore: shipBefore! };
      this.#go({ ...this.#state.view, ...view });
    },
    clearFilters: () => {
      this.#go({ ...this.#state.view, petId: undefined, shipFrom: '', shipBefore: '' });
    },
    more: () => void this.#readPage(),
    reload: () => void this.#readList(),
    clearSelection: () => this.#change(({ selected }) => selected.clear()),
    follow: (view) => (event) => {
      event.preventDefault();
      this.#go(view);
    },
    select: (id) => () =>
      this.#change(({ selected }) => selected.delete(id) || void selected.add(id)),
    act: (action) => () => {
      const { id, order } = this.#state.detail!;
      void this.#act(action, [id], order?.etag);
    },
    actOnSelected: (action) => () => void this.#act(action, [...this.#state.selected], undefined),
  };

  #change(change: (state: State) => unknown): void {
    change(this.#state);
    this.#draw();
  }

  /** Draws once for all changes of this turn. */
  #draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    queueMicrotask(() => {
      this.#isDrawing = false;
      render(page(this.#state, this.#actions), this.#element);
    });
  }

  async #signIn(key: string): Promise<void> {
    this.#change((state) => Object.assign(state, { isSigningIn: true, signInProblem: undefined }));
    try {
      const session = await signIn(key.trim(), this.#root);
      this.#change((state) => Object.assign(state, { session, isSigningIn: false }));
      if (session.may.read) await this.#show(this.#state.view, true);
    } catch (error) {
      if (isSignedOut(error)) this.#signOut('This key is not valid.');
      else
        this.#change((state) =>
          Object.assign(state, { isSigningIn: false, signInProblem: inWords(error) }),
        );
    }
  }

  #signOut(reason: string | undefined): void {
    signOut();
    this.#listing.abort();
    this.#following.abort();
    clearTimeout(this.#summaryTimer);
    this.#change((state) =>
      Object.assign(state, initialState(state.view), { signInProblem: reason }),
    );
  }

  /** Goes to a view, and enters it in the history of the tab. */
  #go(view: View): void {
    history.pushState(undefined, '', searchOf(view));
    void this.#show(view);
  }

  async #show(view: View, isFirst = false): Promise<void> {
    const before = this.#state.view;
    this.#change((state) => {
      state.view = view;
    });
    if (this.#state.session?.may.read !== true) return;
    const filters = (each: View) => searchOf({ ...each, order: undefined });
    const listed = isFirst || filters(before) !== filters(view) ? this.#readList() : undefined;
    if (isFirst || before.order !== view.order) await this.#showDetail(before.order);
    await listed;
  }

  async #readList(): Promise<void> {
    this.#listing.abort();
    this.#listing = new AbortController();
    this.#change((state) => {
      Object.assign(state, { orders: [], next: undefined, newer: 0 });
      state.selected.clear();
      state.results.clear();
    });
    void this.#readSummary();
    const changes = await this.#readPage();
    if (changes !== undefined && this.#state.live === 'starting') void this.#follow(changes);
  }

  /** Reads the first page, or the one after those that are shown. Returns its cursor of changes. */
  async #readPage(): Promise<string | undefined> {
    const { session, view, next } = this.#state;
    const { signal } = this.#listing;
    this.#change((state) => Object.assign(state, { isLoading: true, problem: undefined }));
    try {
      const read = await session!.client.listOrders(
        { ...orderQuery(view), cursor: next },
        { signal },
      );
      this.#change((state) => {
        state.orders.push(...read.orders);
        Object.assign(state, { next: read.next, isLoading: false });
      });
      // A filter that matches little can give an empty page.
      if (read.orders.length === 0 && read.next !== undefined) void this.#readPage();
      return read.changes;
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#failed(error, (problem) => Object.assign(this.#state, { isLoading: false, problem }));
      return undefined;
    }
  }

  async #readSummary(): Promise<void> {
    try {
      const summary = await this.#state.session?.client.getSummary({
        signal: this.#listing.signal,
      });
      this.#change((state) => Object.assign(state, { summary }));
    } catch (error) {
      this.#failed(error, () => {});
    }
  }

  /** Follows the changes of the store until the session ends. */
  async #follow(after: string): Promise<void> {
    const { session } = this.#state;
    if (session?.may.follow !== true) {
      this.#change((state) => Object.assign(state, { live: 'off' }));
      return;
    }
    this.#following = new AbortController();
    const { signal } = this.#following;
    const onLive = (isLive: boolean) => {
      if (!signal.aborted)
        this.#change((state) => Object.assign(state, { live: isLive ? 'live' : 'lost' }));
    };
    try {
      for await (const { changes } of session.client.changes({ after, signal, onLive })) {
        this.#change((state) =>
          applyChanges(state, changes, (order) => isShown(order, state.view)),
        );
        clearTimeout(this.#summaryTimer);
        this.#summaryTimer = setTimeout(() => void this.#readSummary(), SUMMARY_DELAY_MS);
        const open = this.#state.detail?.id;
        if (changes.some(({ order }) => order.id === open)) void this.#readDetail();
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#change((state) => Object.assign(state, { live: 'starting' }));
      // The store was restored: everything may be different.
      if (error instanceof GoneError) void this.#readList();
      else this.#failed(error, () => {});
    }
  }

  /** Opens the details of the order in the view, or closes those of the order before. */
  async #showDetail(before: bigint | undefined): Promise<void> {
    const { order: id } = this.#state.view;
    this.#change((state) => {
      state.detail =
        id === undefined ? undefined : { id, order: undefined, events: [], problem: undefined };
    });
    await Promise.resolve();
    // The focus goes into the details, and back to the link of the order when they are closed.
    const link = `a[href="${searchOf({ ...this.#state.view, order: before })}"]`;
    const target = id === undefined ? `tbody ${link}` : 'aside';
    this.#element.querySelector<HTMLElement>(target)?.focus();
    if (id !== undefined) await this.#readDetail();
  }

  async #readDetail(): Promise<void> {
    const { session, detail } = this.#state;
    if (detail === undefined) return;
    const { id } = detail;
    const show = (found: Partial<NonNullable<State['detail']>>) =>
      this.#change((state) => {
        if (state.detail?.id === id) state.detail = { ...state.detail, ...found };
      });
    try {
      const [order, { events }] = await Promise.all([
        session!.client.getOrder(id),
        session!.client.getOrderHistory(id),
      ]);
      show({ order, events, problem: undefined });
    } catch (error) {
      this.#failed(error, (problem) => show({ problem }));
    }
  }

  /** Cancels or ships orders, some at a time, and shows a result for each. */
  async #act(action: 'cancel' | 'ship', ids: readonly bigint[], ifMatch: string | undefined) {
    const { client } = this.#state.session!;
    this.#change((state) => Object.assign(state, { isActing: true }));
    const left = [...ids];
    const actOnSome = async () => {
      for (let id = left.shift(); id !== undefined; id = left.shift()) {
        const result = await this.#actOn(client, action, { id, ifMatch });
        this.#change(({ results, selected }) => {
          results.set(id!, result);
          selected.delete(id!);
        });
      }
    };
    await Promise.all(Array.from({ length: ACTING_AT_ONCE }, actOnSome));
    this.#change((state) => Object.assign(state, { isActing: false }));
    await this.#readDetail();
    await this.#readSummary();
  }

  async #actOn(
    client: NonNullable<State['session']>['client'],
    action: 'cancel' | 'ship',
    { id, ifMatch }: { readonly id: bigint; readonly ifMatch: string | undefined },
  ): Promise<string> {
    try {
      const order = await (action === 'cancel'
        ? client.cancelOrder(id, { ifMatch })
        : client.shipOrder(id, { ifMatch }));
      this.#change((state) => {
        state.orders = state.orders.map((each) => (each.id === id ? order : each));
      });
      return action === 'cancel' ? 'Cancelled now.' : 'Shipped now.';
    } catch (error) {
      let words = '';
      this.#failed(error, (problem) => {
        words = problem;
      });
      this.#change(({ detail }) => {
        if (detail?.id === id) this.#state.detail = { ...detail, problem: words };
      });
      return words;
    }
  }

  /** Ends the session if the key is no longer valid; otherwise `tell` gets the reason in words. */
  #failed(error: unknown, tell: (problem: string) => void): void {
    if (isSignedOut(error)) {
      this.#signOut('This key is no longer valid.');
      return;
    }
    tell(inWords(error));
    this.#draw();
  }
}

/** The text fields of the form that an event is of. */
function formOf(event: Event): Map<string, string> {
  const element = event.currentTarget as HTMLFormElement;
  return new Map([...new FormData(element)].map(([name, value]) => [name, String(value)]));
}
