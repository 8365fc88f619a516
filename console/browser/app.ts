import { AuthenticationError, type OrderPage, type OrderRecord } from '@store-orders/client';
import type { Actions } from './actions.ts';
import { readActivity, readPeople } from './activity/activity.ts';
import { readChangesOfKey } from './activity/changes-of-key.ts';
import { selectMatching } from './changing/change-in-bulk.ts';
import { Changing } from './changing/changing.ts';
import { dialogActions } from './changing/dialog-actions.ts';
import { readDetails, showDetails } from './details.ts';
import { inWords } from './format.ts';
import { closePopover, fieldOf, instead } from './handlers.ts';
import { listenForKeys, type Shortcuts } from './keyboard.ts';
import { Invitation, takeTicket } from './keys/invitation.ts';
import { keyActions } from './keys/key-actions.ts';
import { Keys } from './keys/keys.ts';
import {
  isWrittenPet,
  listOf,
  onPage,
  orderQuery,
  parseWrittenId,
  searchOf,
  type View,
  viewOf,
  withoutFilters,
} from './list/address.ts';
import { exportActivity, exportCsv, exportKey } from './list/csv.ts';
import { selectCurrent, toggle, toggleAll } from './list/list-state.ts';
import { OrderList } from './list/order-list.ts';
import { isRelative, today } from './list/range.ts';
import { viewActions } from './list/view-actions.ts';
import { OtherTabs } from './other-tabs.ts';
import { page } from './page-view.ts';
import { Placing } from './placing/placing.ts';
import { listenForPrints, printOrders } from './printing/printing.ts';
import { Scanning } from './scanning/scans.ts';
import { Screen } from './screen.ts';
import { namedBy, onlyHit, Search } from './search/search.ts';
import { keyIn, signIn } from './sign-in.ts';
import { State } from './state.ts';
import { changeWebhook, readWebhooks } from './webhooks.ts';

/** Maximum length of a text that is shown if it cannot be copied. */
const LONGEST_SHOWN = 60;
/** How long to wait before the known key is tried again. */
const RESUME_MS = 5_000;
/** How often relative times are drawn again, and a new day is detected. */
const TICK_MS = 15_000;
/** How long the open order stays while another is looked up. */
const LATE_MS = 150;
/** From this width on, details are beside the list. */
const WIDE = '(min-width: 1100px)';
/** Up to this width, an order takes two rows. */
const NARROW = '(max-width: 40rem)';

/** The console: signing in, navigation, and the user's actions. */
export class App {
  readonly #root: string;
  readonly #screen: Screen;
  readonly #list: OrderList;
  readonly #changing: Changing;
  readonly #placing: Placing;
  readonly #search: Search;
  readonly #scanning: Scanning;
  readonly #keys: Keys;
  readonly #invitation: Invitation;
  readonly #tabs: OtherTabs;
  readonly #actions: Actions;
  /** Ends the latest attempt to sign in, and its session. */
  #signingIn: AbortController | undefined;
  #resumeTimer: ReturnType<typeof setTimeout> | undefined;
  /** Steps of the keyboard that are still to be taken. */
  #steps = 0;
  #isMoving = false;
  /** The day that is "today" in the view, in the user's time zone. */
  #day = today().getTime();

  /** @param root the part of the service's URLs before /v2 */
  constructor(element: HTMLElement, root: string) {
    this.#root = root;
    const onSignedOut = () => this.#signOut('This key is no longer valid.');
    const view = viewOf(location.search);
    const draw = (state: State) => page(state, this.#actions);
    this.#screen = new Screen(element, view, draw, onSignedOut);
    this.#list = new OrderList(this.#screen, () => void readDetails(this.#screen));
    this.#search = new Search(this.#screen);
    this.#scanning = new Scanning(this.#screen);
    this.#keys = new Keys(this.#screen, (to) => this.#go(to));
    this.#invitation = new Invitation(this.#screen, root);
    this.#placing = new Placing(this.#screen, (order) => {
      const { session, view: shown } = this.#screen.state;
      if (session?.may.read !== true) return;
      this.#go({ ...shown, page: 'orders', order });
      void this.#list.readAgain();
    });
    const placeAgain = (order: OrderRecord) => this.#placing.open(order);
    this.#changing = new Changing(this.#screen, () => this.#list.readCounts(), placeAgain);
    this.#actions = this.#actionsOf();
    this.#tabs = new OtherTabs(root, () => this.#signOut('You signed out in another tab.'));
  }

  async start(): Promise<void> {
    const { state } = this.#screen;
    const ticket = takeTicket();
    addEventListener('popstate', () => void this.#show(viewOf(location.search)));
    addEventListener('beforeunload', (event) => {
      const isShownOnce = state.dialog?.kind === 'made' || state.invitation?.secret !== undefined;
      if (state.bulk?.isRunning === true || isShownOnce) event.preventDefault();
    });
    const [wide, narrow] = [matchMedia(WIDE), matchMedia(NARROW)];
    const onWidth = () => this.#screen.set({ isWide: wide.matches, isNarrow: narrow.matches });
    for (const each of [wide, narrow]) each.addEventListener('change', onWidth);
    onWidth();
    setInterval(() => this.#tick(), TICK_MS);
    // Browsers delay the timers of background tabs.
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.#tick();
    });
    // A button that is only an icon, or has no room for its word, has it as its title.
    document.addEventListener('pointerover', ({ target }) => {
      const icon = (target as Element).closest<HTMLElement>('.icon-only, .tools :is(a, button)');
      if (icon !== null) icon.title = icon.ariaLabel ?? icon.innerText;
    });
    listenForPrints(this.#screen);
    listenForKeys(this.#shortcuts, state);
    // A link that is opened in this tab while the page is there.
    addEventListener('hashchange', () => void this.#openInvitation(takeTicket()));
    await (ticket === undefined ? this.#resume() : this.#openInvitation(ticket));
  }

  /** Asks whether an invitation is accepted, also if this browser is signed in. */
  async #openInvitation(ticket: string | undefined): Promise<void> {
    const { state } = this.#screen;
    // A secret that was made is shown once.
    if (ticket === undefined || state.invitation?.secret !== undefined) return;
    clearTimeout(this.#resumeTimer);
    const known = state.session?.key.id ?? this.#tabs.key();
    const isSignedIn = Promise.resolve(known).then((key) => key !== undefined);
    await this.#invitation.open(ticket, isSignedIn);
  }

  /** Draws again when relative times change, and when a new day begins. */
  #tick(): void {
    const { session, view } = this.#screen.state;
    this.#screen.draw();
    void this.#keys.read();
    const day = today().getTime();
    if (session === undefined || day === this.#day) return;
    this.#day = day;
    void readActivity(this.#screen);
    void readChangesOfKey(this.#screen);
    const isOther = [view.ships, view.placed, view.changed].some(isRelative);
    if (isOther && session.may.read) void this.#list.read();
  }

  /** Signs in with the known key, and retries until the service can be reached. */
  async #resume(): Promise<void> {
    const screen = this.#screen;
    clearTimeout(this.#resumeTimer);
    const key = await this.#tabs.key();
    if (key === undefined || screen.state.session !== undefined) return;
    screen.set({ isResuming: true });
    await this.#signIn(key);
    if (screen.state.session === undefined && screen.state.isResuming) {
      this.#resumeTimer = setTimeout(() => void this.#resume(), RESUME_MS);
    }
  }

  #actionsOf(): Actions {
    return {
      ...viewActions(this.#screen, (view) => this.#go(view)),
      ...dialogActions(this.#screen, this.#changing, this.#placing),
      signIn: instead((event) => void this.#signIn(keyIn(fieldOf(event, 'key').value))),
      signOut: () => {
        this.#tabs.signOut();
        this.#signOut(undefined);
      },
      showKey: (event) => {
        const button = event.currentTarget as HTMLButtonElement;
        const field = button.form!.elements.namedItem('key') as HTMLInputElement;
        const isShown = field.type === 'text';
        field.type = isShown ? 'password' : 'text';
        button.ariaPressed = String(!isShown);
      },
      skip: instead(() => void this.#screen.focus('h1')),
      search: (event) => this.#search.type((event.currentTarget as HTMLInputElement).value),
      searchKey: (event) => {
        const { key, currentTarget, target, ctrlKey, metaKey } = event as KeyboardEvent;
        const by = { ArrowDown: 1, ArrowUp: -1 }[key];
        const isText = /^\S$/.test(key) && !ctrlKey && !metaKey;
        if (by === undefined && (!isText || target instanceof HTMLInputElement)) return;
        const items = [...(currentTarget as Element).querySelectorAll<HTMLElement>('input, .item')];
        if (by === undefined) {
          // What is typed goes on with the text, and is no shortcut.
          event.stopPropagation();
          items[0]?.focus();
          return;
        }
        items[items.indexOf(document.activeElement as HTMLElement) + by]?.focus();
        event.preventDefault();
      },
      submitSearch: instead(
        () => void this.#goToFound(this.#screen.state.search, { isScanned: false }),
      ),
      searchOlder: () => {
        // The button is gone while older orders are read.
        void this.#screen.focus('#jump');
        void this.#search.goOn();
      },
      follow: (view) => (event) => {
        // The browser opens the link in another tab or window.
        const { ctrlKey, metaKey, shiftKey } = event as MouseEvent;
        if (ctrlKey || metaKey || shiftKey) return;
        event.preventDefault();
        closePopover(event);
        this.#go(view);
      },
      exportCsv: (only) => () => void exportCsv(this.#screen, only),
      print: (paper, ids) => () => void printOrders(this.#screen, paper, ids),
      paste: (event) => {
        const text = (event as ClipboardEvent).clipboardData?.getData('text/plain').trim() ?? '';
        if (!text.includes('\n')) return;
        event.preventDefault();
        this.#go(onPage(this.#screen.state.view, 'scan'));
        void this.#scanning.paste(text);
      },
      pasteScans: instead((event) => {
        const field = fieldOf(event, 'list');
        void this.#scanning.paste(field.value).then((isTaken) => {
          if (isTaken) field.value = '';
        });
      }),
      chooseScan: (number, id) => () => this.#scanning.choose(number, id),
      removeScan: (number) => () => this.#scanning.remove(number),
      clearScans: () => this.#scanning.clear(),
      takeBackScan: () => this.#scanning.takeBack(),
      filterScans: (filter) => () =>
        this.#screen.change((state) => (state.scans = { ...state.scans, filter })),
      exportActivity: () => exportActivity(this.#screen),
      stopExport: () => this.#screen.set({ exported: undefined }),
      more: () => void this.#readMore(),
      reload: () => void this.#reload(),
      reconnect: () => void this.#list.reconnect(),
      open: (id) => (event) => {
        const isControl = (event.target as Element).closest('a, button, input, label') !== null;
        const isSelectingText = String(getSelection()) !== '';
        if (!isControl && !isSelectingText) this.#go({ ...this.#screen.state.view, order: id });
      },
      copy: (text, what) => () => void this.#copy(text, what),
      select: (id) => () => toggle(this.#screen, id),
      selectAll: () => toggleAll(this.#screen),
      selectMatching: () => void selectMatching(this.#screen),
      clearSelection: () => this.#clearSelection(),
      stopBulk: () =>
        this.#screen.change((state) => {
          if (state.bulk !== undefined) state.bulk = { ...state.bulk, isStopping: true };
        }),
      retryFailed: () => void this.#changing.retryFailed(),
      closeBulk: () => this.#screen.set({ bulk: undefined }),
      closeDetails: instead(() => this.#go({ ...this.#screen.state.view, order: undefined })),
      readDetails: () => void readDetails(this.#screen),
      resume: () => void this.#resume(),
      readActivity: () => void readActivity(this.#screen),
      markDay: (index) => () =>
        this.#screen.change((state) => {
          if (state.activity !== undefined) state.activity = { ...state.activity, marked: index };
        }),
      readChangesOfKey: () => void readChangesOfKey(this.#screen),
      exportKey: () => exportKey(this.#screen),
      keys: keyActions(this.#screen, this.#keys),
      readInvitation: () => void this.#invitation.read(),
      acceptInvitation: instead(() => void this.#invitation.accept()),
      declineInvitation: () => {
        this.#invitation.close();
        if (this.#screen.state.session === undefined) void this.#resume();
      },
      useSecret: instead(() => void this.#useSecret()),
      readWebhooks: () => void readWebhooks(this.#screen),
      webhook: (id, action) => () => void changeWebhook(this.#screen, id, action),
    };
  }

  get #hasList(): boolean {
    const { view, session } = this.#screen.state;
    return view.page === 'orders' && session?.may.read === true;
  }

  readonly #shortcuts: Shortcuts = {
    move: (by) => void this.#move(by),
    open: () => {
      const { current, view } = this.#screen.state;
      if (current !== undefined && this.#hasList) this.#go({ ...view, order: current });
    },
    select: (isRange) => (this.#hasList ? selectCurrent(this.#screen, isRange) : undefined),
    search: (text) => {
      const { session, view, isWide } = this.#screen.state;
      if (session?.may.read !== true) return;
      // The sheet of the details covers the search box. Several characters at once are of a scanner: what is open is not what it looks for.
      if (view.order !== undefined && (!isWide || text.length > 1))
        this.#go({ ...view, order: undefined });
      if (text !== '') this.#search.type(text);
      void this.#screen.focus('#jump');
    },
    scan: (text, written = text) => {
      const { session, view, dialog } = this.#screen.state;
      if (session?.may.read !== true) return;
      if (dialog?.kind === 'palette') this.#screen.set({ dialog: undefined });
      if (view.page === 'scan') {
        this.#go({ ...view, order: undefined });
        this.#scanning.scan(text);
        void this.#screen.focus('h1');
        document.querySelector('.last')?.scrollIntoView({ block: 'nearest' });
        return;
      }
      void this.#openScanned(text, written);
    },
    refuse: () => void this.#changing.refuseScan(),
    filter: () => void this.#screen.focus('.filters button'),
    act: (action) => this.#changing.ask(action),
    place: () => {
      const { page } = this.#screen.state.view;
      if (page === 'orders') this.#placing.open();
      if (page === 'keys') this.#keys.start();
    },
    copyId: () => {
      const { detail, current } = this.#screen.state;
      const id = detail?.id ?? current;
      if (id !== undefined) void this.#copy(String(id), 'Id');
    },
    exportCsv: () => {
      if (this.#hasList) void exportCsv(this.#screen);
    },
    goTo: (page) => this.#go(onPage(this.#screen.state.view, page)),
    close: () => this.#close(),
    commands: () => {
      this.#screen.set({ dialog: { kind: 'palette' }, search: '' });
      void readPeople(this.#screen);
    },
    takeBack: () => this.#scanning.takeBack(),
    help: () => this.#screen.set({ dialog: { kind: 'keys' } }),
  };

  /** Signs in with the secret of an invitation, in place of the key of this tab. Its page stays until that has succeeded. */
  async #useSecret(): Promise<void> {
    const { session, invitation } = this.#screen.state;
    const secret = invitation?.secret;
    if (secret === undefined) return;
    if (session !== undefined) this.#signOut(undefined);
    await this.#signIn(secret);
  }

  async #signIn(key: string): Promise<void> {
    const screen = this.#screen;
    if (screen.state.isSigningIn) return;
    const ending = new AbortController();
    this.#signingIn = ending;
    screen.change((state) => {
      state.isSigningIn = true;
      // While the known key is tried, the reason of the last failure stays visible.
      if (!state.isResuming) state.signInProblem = undefined;
    });
    try {
      const asked = screen.state.view;
      const keyed = { apiKey: key, root: this.#root };
      const { session, firstPage } = await signIn(keyed, orderQuery(asked), ending);
      ending.signal.throwIfAborted();
      this.#tabs.keep(key);
      screen.change((state) => {
        Object.assign(state, { session, isSigningIn: false, isResuming: false });
        if (state.invitation?.secret === key) state.invitation = undefined;
      });
      await screen.focus('h1');
      const { view } = screen.state;
      const isSame = listOf(asked) === listOf(view);
      await this.#show(view, true, isSame ? firstPage : undefined);
      this.#placing.resume();
      if (session.may.read) this.#scanning.restore();
    } catch (error) {
      // Given up.
      if (this.#signingIn !== ending) return;
      if (error instanceof AuthenticationError) this.#signOut('This key is not valid.');
      else screen.set({ isSigningIn: false, signInProblem: inWords(error) });
    }
  }

  #signOut(signInProblem: string | undefined): void {
    this.#tabs.forget();
    clearTimeout(this.#resumeTimer);
    this.#signingIn?.abort();
    this.#signingIn = undefined;
    this.#screen.state.session?.ending.abort();
    this.#list.stop();
    const { isWide, isNarrow, view, invitation } = this.#screen.state;
    this.#screen.set({ ...new State(view), signInProblem, isWide, isNarrow, invitation });
  }

  /**
   * Opens the only order that a text means. Otherwise the search box has what was found, with the text selected, so that the next scan replaces it.
   * @param isScanned whether a part of a reference finds nothing
   */
  async #goToFound(text: string, { isScanned }: { readonly isScanned: boolean }): Promise<void> {
    const { view, dialog } = this.#screen.state;
    if (text.trim() === '') return;
    const others = { ...withoutFilters(view), page: 'orders' } as const;
    const ofPet = isWrittenPet(text) ? { ...others, petId: parseWrittenId(text) } : undefined;
    if (ofPet !== undefined && !isScanned) {
      this.#go(ofPet);
      return;
    }
    let hasLeft = false;
    const leave = () => {
      if (!hasLeft) this.#leaveOrder(text);
      hasLeft = true;
    };
    const late = setTimeout(leave, LATE_MS);
    const found = await this.#search.find(text);
    clearTimeout(late);
    // A person has gone to another form meanwhile: it stays, and so does the text in the search box.
    const other = document.querySelector(':is(form:not(.jump), [popover]) :focus:not(.palette *)');
    if (other !== null || (this.#screen.state.dialog ?? dialog) !== dialog) return;
    const named = found === undefined ? [] : namedBy(found);
    const only = isScanned && named.length !== 1 ? undefined : found && onlyHit(found);
    if (only !== undefined) this.#go({ ...view, page: 'orders', order: only.id });
    else if (ofPet !== undefined && found !== undefined && named.length === 0) this.#go(ofPet);
    else if (named.length === 0 && !isScanned && (found?.beginning.length ?? 0) > 1) {
      this.#go({ ...others, prefix: text.trim() });
    } else leave();
  }

  /** Opens the order that a scan means. If all that is in the field means one, too, the scan can be the end of its code, and neither is opened. */
  async #openScanned(text: string, written: string): Promise<void> {
    this.#search.type(text);
    if (written.trim() !== text.trim()) {
      this.#leaveOrder(text);
      const isEnd = await this.#search.mayName(written);
      if (this.#screen.state.search !== text) return;
      if (isEnd) {
        this.#search.type(written);
        void this.#search.find(written);
        this.#leaveOrder(written);
        return;
      }
    }
    await this.#goToFound(text, { isScanned: true });
  }

  /** Closes the open order, whose buttons are not for what was looked for, and goes to the search box: the next code takes the place of this one. */
  #leaveOrder(text: string): void {
    const { view, search } = this.#screen.state;
    // Another was looked for.
    if (search !== text) return;
    if (view.order !== undefined) this.#go({ ...view, order: undefined });
    this.#screen.set({ search: text });
    void this.#screen.focus<HTMLInputElement>('#jump').then((box) => box?.select());
  }

  /** Goes to a view, and enters it in the history of the tab. */
  #go(view: View): void {
    if (searchOf(view) !== searchOf(this.#screen.state.view)) {
      history.pushState(undefined, '', searchOf(view));
    }
    this.#screen.set({ search: '' });
    void this.#show(view);
  }

  /** @param isFirst whether it is the first view of the session @param firstPage of the list, if it is being read */
  async #show(view: View, isFirst = false, firstPage?: Promise<OrderPage>): Promise<void> {
    const { view: before, session } = this.#screen.state;
    this.#screen.set({ view });
    if (session === undefined) return;
    const isOtherPage = isFirst || before.page !== view.page;
    const isOtherDay = before.day !== view.day && view.by === '';
    if (isOtherPage || isOtherDay || before.days !== view.days) void readActivity(this.#screen);
    const isOtherKey = isOtherPage || before.by !== view.by || before.day !== view.day;
    if (isOtherKey) void readChangesOfKey(this.#screen);
    if (isOtherPage) void readWebhooks(this.#screen);
    if (isOtherPage || before.keys !== view.keys) this.#keys.show();
    if (!session.may.read) {
      this.#screen.set({ live: 'off' });
      return;
    }
    const isOther = isFirst || listOf(before) !== listOf(view);
    const reading = isOther ? this.#list.read(firstPage) : undefined;
    const isOtherOrder = isFirst || before.order !== view.order;
    // A dialog belongs to the list and the order below it.
    if ((isOther || isOtherOrder) && this.#screen.state.dialog?.kind !== 'made') {
      this.#screen.set({ dialog: undefined });
    }
    if (isOtherOrder) await showDetails(this.#screen, before.order);
    await reading;
    if (isFirst) document.querySelector('tr.open')?.scrollIntoView({ block: 'nearest' });
    const isSorted = !isFirst && before.sorting !== view.sorting;
    if (isSorted) await this.#screen.focusRead('th[aria-sort$="scending"] a');
  }

  /** Reads the next page, or the list from its beginning if that read failed; moves the focus to the first new order. */
  async #readMore(): Promise<void> {
    const { length } = this.#screen.state.orders;
    await (length === 0 ? this.#list.read() : this.#list.readPage());
    await this.#screen.focusRead(`tbody tr:nth-child(${length + 1}) th a`);
  }

  async #reload(): Promise<void> {
    await this.#list.readAgain();
    await this.#screen.focusRead('tbody th a');
  }

  async #copy(text: string, what: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.#screen.toast(`${what} copied`);
    } catch {
      // Without HTTPS there is no clipboard.
      const shown = text.length > LONGEST_SHOWN ? '' : `: ${text}`;
      this.#screen.toast(`The browser does not permit copying here${shown}`, true);
    }
  }

  /** Moves to the next or previous order. Steps that come while a page is read are taken after it, so that a key that is held loses none. */
  async #move(by: 1 | -1): Promise<void> {
    if (!this.#hasList) return;
    this.#steps += by;
    if (this.#isMoving) return;
    this.#isMoving = true;
    try {
      while (this.#steps !== 0) {
        const { state } = this.#screen;
        const index = state.orders.findIndex(({ id }) => id === state.current);
        const to = index < 0 ? 0 : Math.max(index + this.#steps, 0);
        const isBeyond = to >= state.orders.length && state.next !== undefined;
        const { length } = state.orders;
        if (isBeyond && !state.isLoading) await this.#list.readPage();
        if (state.orders.length > length) continue;
        this.#steps = 0;
        // A person has gone elsewhere meanwhile.
        if (state.dialog !== undefined || document.activeElement?.closest('form')) break;
        const next = state.orders[Math.min(to, state.orders.length - 1)];
        if (next === undefined || next.id === state.current) break;
        this.#screen.set({ current: next.id });
        await this.#screen.focus('tbody tr.current th a');
        if (state.detail !== undefined) this.#go({ ...state.view, order: next.id });
      }
    } finally {
      this.#isMoving = false;
    }
  }

  #clearSelection(): void {
    this.#screen.change(({ selected, selecting }) => {
      selecting?.ending.abort();
      selected.clear();
    });
  }

  /** Closes the details, then clears the selection. */
  #close(): void {
    const { current, detail, view, search, selected, selecting, bulk } = this.#screen.state;
    if (document.activeElement?.closest('.jump')) {
      this.#screen.set({ search: '' });
      void this.#screen.focus(`tbody ${current === undefined ? '' : 'tr.current '}th a`);
    } else if (search !== '') this.#screen.set({ search: '' });
    else if (detail !== undefined) this.#go({ ...view, order: undefined });
    else if (view.page === 'keys' && view.keys === 'create') this.#go({ ...view, keys: 'valid' });
    else if (view.page === 'scan') this.#go({ ...view, page: 'orders' });
    else if (bulk?.isRunning === false) this.#screen.set({ bulk: undefined });
    else if (selected.size > 0 || selecting !== undefined) this.#clearSelection();
  }
}
