import { act, type Deed } from './acting.ts';
import type { Actions } from './actions.ts';
import { readDetails, showDetails } from './details.ts';
import { inWords } from './format.ts';
import { OrderList } from './order-list.ts';
import { parseId, searchOf, type View, viewOf } from './query.ts';
import { Screen } from './screen.ts';
import { isSignedOut, signIn, signOut, storedKey } from './session.ts';
import { initialState } from './state.ts';

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
    addEventListener('keydown', ({ key }) => {
      const { detail, view } = this.#screen.state;
      if (key === 'Escape' && detail !== undefined) this.#go({ ...view, order: undefined });
    });
    const key = storedKey();
    if (key !== null) void this.#signIn(key);
    this.#screen.draw();
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
      if (order !== undefined) this.#go({ ...this.#screen.state.view, order });
    },
    filter: (event) => {
      event.preventDefault();
      const form = formOf(event);
      const [pet, from, before] = ['pet', 'from', 'before'].map((name) => form.get(name) ?? '');
      const filters = { petId: parseId(pet!), shipFrom: from!, shipBefore: before! };
      this.#go({ ...this.#screen.state.view, ...filters });
    },
    clearFilters: () => {
      const { view } = this.#screen.state;
      this.#go({ ...view, petId: undefined, shipFrom: '', shipBefore: '' });
    },
    more: () => void this.#list.readPage(),
    reload: () => void this.#list.read(),
    clearSelection: () => this.#screen.change(({ selected }) => selected.clear()),
    follow: (view) => (event) => {
      event.preventDefault();
      this.#go(view);
    },
    select: (id) => () =>
      this.#screen.change(({ selected }) => selected.delete(id) || selected.add(id)),
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
    this.#list.stop();
    this.#screen.change((state) =>
      Object.assign(state, initialState(state.view), { signInProblem }),
    );
  }

  /** Goes to a view, and enters it in the history of the tab. */
  #go(view: View): void {
    history.pushState(undefined, '', searchOf(view));
    void this.#show(view);
  }

  async #show(view: View, isFirst = false): Promise<void> {
    const { view: before, session } = this.#screen.state;
    this.#screen.change((state) => Object.assign(state, { view }));
    if (session?.may.read !== true) return;
    const filters = (each: View) => searchOf({ ...each, order: undefined });
    const reading = isFirst || filters(before) !== filters(view) ? this.#list.read() : undefined;
    if (isFirst || before.order !== view.order) await showDetails(this.#screen, before.order);
    await reading;
  }

  async #act(deed: Deed): Promise<void> {
    const { session } = this.#screen.state;
    if (session === undefined) return;
    await act(this.#screen, session, deed);
    await Promise.all([readDetails(this.#screen), this.#list.readSummary()]);
  }
}

/** The text fields of the form that an event is of. */
function formOf(event: Event): Map<string, string> {
  const element = event.currentTarget as HTMLFormElement;
  return new Map([...new FormData(element)].map(([name, value]) => [name, String(value)]));
}
