import { type BulkAction, isConfirmed, runBulkAction } from './acting.ts';
import type { Actions } from './actions.ts';
import { readActivity } from './activity.ts';
import { readDetails, showDetails } from './details.ts';
import { inWords } from './format.ts';
import { OrderList } from './order-list.ts';
import { orderQuery, parseId, searchOf, type View, viewOf } from './query.ts';
import { Screen } from './screen.ts';
import { isSignedOut, signIn, signOut, storedKey } from './session.ts';
import { initialState, selectable } from './state.ts';

/** The console: signing in, going from view to view, and what the reader can do there. */
export class App {
  readonly #root: string;
  readonly #screen: Screen;
  readonly #list: OrderList;

  /** @param root what precedes /v2 in the URLs of the service */
  constructor(element: HTMLElement, root: string) {
    this.#root = root;
    const onSignedOut = () => this.#signOut('This key is no longer valid.');
    const view = viewOf(location.search);
    this.#screen = new Screen(element, view, { actions: this.#actions, onSignedOut });
    this.#list = new OrderList(this.#screen, () => void readDetails(this.#screen));
  }

  start(): void {
    addEventListener('popstate', () => void this.#show(viewOf(location.search)));
    addEventListener('keydown', ({ key, target }) => {
      const { detail, view } = this.#screen.state;
      const isClosing = key === 'Escape' && !(target instanceof HTMLInputElement);
      if (isClosing && detail !== undefined) this.#go({ ...view, order: undefined });
    });
    const key = storedKey();
    if (key !== null) void this.#signIn(key);
    this.#screen.draw();
  }

  readonly #actions: Actions = {
    signIn: (event) => {
      event.preventDefault();
      void this.#signIn(fieldOf(formOf(event), 'key').value);
    },
    signOut: () => this.#signOut(undefined),
    jump: (event) => {
      event.preventDefault();
      const order = idIn(formOf(event), 'id');
      if (order !== undefined) this.#go({ ...this.#screen.state.view, order });
    },
    filter: (event) => {
      event.preventDefault();
      const form = formOf(event);
      const { value } = fieldOf(form, 'pet');
      const petId = idIn(form, 'pet');
      if (value.trim() !== '' && petId === undefined) return;
      const [from, before] = ['from', 'before'].map((name) => fieldOf(form, name).value);
      const reference = fieldOf(form, 'reference').value.trim();
      const view = { ...this.#screen.state.view, petId, reference };
      this.#go(viewOf(searchOf({ ...view, shipFrom: from!, shipBefore: before! })), 'replace');
    },
    clearFilters: () => {
      const { view } = this.#screen.state;
      this.#go({ ...view, petId: undefined, reference: '', shipFrom: '', shipBefore: '' });
    },
    more: () => void this.#readMore(),
    reload: () => void this.#list.read(),
    readActivity: () => void readActivity(this.#screen),
    clearSelection: () => this.#screen.change(({ selected }) => selected.clear()),
    follow: (view) => (event) => {
      // The browser opens the link elsewhere.
      const { ctrlKey, metaKey, shiftKey } = event as MouseEvent;
      if (ctrlKey || metaKey || shiftKey) return;
      event.preventDefault();
      this.#go(view);
    },
    select: (id) => () =>
      this.#screen.change(({ selected }) => {
        if (!selected.delete(id)) selected.add(id);
      }),
    selectAll: () =>
      this.#screen.change((state) => {
        const { pending, isAll } = selectable(state);
        for (const { id } of pending) {
          if (isAll) state.selected.delete(id);
          else state.selected.add(id);
        }
      }),
    selectMatching: () => void this.#selectMatching(),
    act: (action) => () => {
      const { id, order } = this.#screen.state.detail!;
      void this.#act({ action, ids: [id], ifMatch: order?.etag });
    },
    actOnSelected: (action) => () =>
      void this.#act({ action, ids: [...this.#screen.state.selected] }),
  };

  async #signIn(key: string): Promise<void> {
    const screen = this.#screen;
    screen.change((state) => Object.assign(state, { isSigningIn: true, signInProblem: undefined }));
    try {
      const session = await signIn(key.trim(), this.#root);
      screen.change((state) => Object.assign(state, { session, isSigningIn: false }));
      await screen.focus('h1');
      if (session.may.read) await this.#show(screen.state.view, true);
    } catch (error) {
      if (isSignedOut(error)) this.#signOut('This key is not valid.');
      else {
        const signInProblem = inWords(error);
        screen.change((state) => Object.assign(state, { isSigningIn: false, signInProblem }));
      }
    }
  }

  #signOut(signInProblem: string | undefined): void {
    signOut();
    this.#screen.state.session?.ending.abort();
    this.#list.stop();
    this.#screen.change((state) =>
      Object.assign(state, initialState(state.view), { signInProblem }),
    );
  }

  /** Goes to a view, and enters it in the history of the tab, or puts it in the place of this one. */
  #go(view: View, how: 'push' | 'replace' = 'push'): void {
    history[`${how}State`](undefined, '', searchOf(view));
    void this.#show(view);
  }

  /** Reads the next page, or the list from its beginning if that is what failed; the focus goes to the first new order. */
  async #readMore(): Promise<void> {
    const { length } = this.#screen.state.orders;
    await (length === 0 ? this.#list.read() : this.#list.readPage());
    await this.#screen.focus(`tbody tr:nth-child(${length + 1}) a`);
  }

  async #show(view: View, isFirst = false): Promise<void> {
    const { view: before, session } = this.#screen.state;
    this.#screen.change((state) => Object.assign(state, { view }));
    if (session?.may.read !== true) return;
    const filters = (each: View) => searchOf({ ...each, order: undefined, days: undefined });
    const reading = isFirst || filters(before) !== filters(view) ? this.#list.read() : undefined;
    if (isFirst || before.days !== view.days) void readActivity(this.#screen);
    if (isFirst || before.order !== view.order) await showDetails(this.#screen, before.order);
    await reading;
  }

  async #selectMatching(): Promise<void> {
    const screen = this.#screen;
    const { session, view } = screen.state;
    if (session === undefined) return;
    screen.change((state) => Object.assign(state, { isActing: true, outcome: undefined }));
    const query = { ...orderQuery(view), status: 'pending', limit: 500 } as const;
    const found: bigint[] = [];
    try {
      for await (const { id } of session.client.orders(query, { signal: session.ending.signal })) {
        found.push(id);
        if (found.length === MOST_SELECTED) break;
      }
    } catch (error) {
      const problem = screen.problemOf(session, error);
      screen.change((state) => Object.assign(state, { isActing: false, outcome: problem }));
      return;
    }
    screen.change((state) => {
      state.isActing = false;
      // Filters that were changed meanwhile have cleared the selection.
      if (state.view === view) for (const id of found) state.selected.add(id);
    });
  }

  async #act(bulkAction: BulkAction): Promise<void> {
    const { session, detail } = this.#screen.state;
    if (session === undefined || !isConfirmed(bulkAction)) return;
    await runBulkAction(this.#screen, session, bulkAction);
    await Promise.all([readDetails(this.#screen), this.#list.readSummary()]);
    // The button that was pressed is gone.
    if (detail !== undefined) await this.#screen.focus('aside');
  }
}

/** Orders that can be selected at most. */
const MOST_SELECTED = 50_000;

const formOf = (event: Event) => event.currentTarget as HTMLFormElement;

function fieldOf(form: HTMLFormElement, name: string): HTMLInputElement {
  return form.elements.namedItem(name) as HTMLInputElement;
}

/** Returns the id in a field; says what is wrong if there is another text. */
function idIn(form: HTMLFormElement, name: string): bigint | undefined {
  const field = fieldOf(form, name);
  const id = parseId(field.value);
  const isWrong = field.value.trim() !== '' && id === undefined;
  field.setCustomValidity(isWrong ? 'This is not an id: digits only, and not too many.' : '');
  field.reportValidity();
  return id;
}
