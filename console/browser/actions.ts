import { readActivity } from './activity/activity.ts';
import { readChangesOfKey } from './activity/changes-of-key.ts';
import type { App } from './app.ts';
import { selectMatching } from './changing/change-in-bulk.ts';
import { dialogActions } from './changing/dialog-actions.ts';
import { readDetails } from './details.ts';
import { keyActions } from './keys/key-actions.ts';
import { onPage, type View } from './list/address.ts';
import { exportActivity, exportCsv, exportKey } from './list/csv.ts';
import { toggle, toggleAll } from './list/list-state.ts';
import { closePopover, fieldOf, viewActions } from './list/view-actions.ts';
import { printOrders } from './printing/printing.ts';
import { readyIn } from './scanning/scans.ts';
import { keyIn } from './sign-in.ts';
import type { Paper, Scans } from './state.ts';
import { changeWebhook, readWebhooks } from './webhooks.ts';

/** The actions of a user, as event handlers. */
export type Actions = ReturnType<typeof actionsOf>;

/** Makes what the views call. */
export function actionsOf(app: App) {
  const { screen } = app;
  return {
    ...viewActions(screen, (view) => app.go(view)),
    ...dialogActions(screen, { changing: app.changing, placing: app.placing }),
    signIn: (event: Event) => {
      event.preventDefault();
      void app.signIn(keyIn(fieldOf(event, 'key').value));
    },
    signOut: () => {
      app.tabs.signOut();
      app.signOut(undefined);
    },
    /** Shows or hides the typed key. */
    showKey: (event: Event) => {
      const button = event.currentTarget as HTMLButtonElement;
      const field = button.form!.elements.namedItem('key') as HTMLInputElement;
      const isShown = field.type === 'text';
      field.type = isShown ? 'password' : 'text';
      button.ariaPressed = String(!isShown);
    },
    /** Moves the focus past the bar. */
    skip: (event: Event) => {
      event.preventDefault();
      void screen.focus('h1');
    },
    search: (event: Event) => app.search.type((event.currentTarget as HTMLInputElement).value),
    /** Moves between the search box and its results. */
    searchKey: (event: Event) => {
      const { key, currentTarget } = event as KeyboardEvent;
      const by = { ArrowDown: 1, ArrowUp: -1 }[key];
      if (by === undefined) return;
      const items = [...(currentTarget as Element).querySelectorAll<HTMLElement>('input, .item')];
      items[items.indexOf(document.activeElement as HTMLElement) + by]?.focus();
      event.preventDefault();
    },
    /** Opens the order whose id is typed, or lists the orders with the typed reference. */
    submitSearch: (event: Event) => {
      event.preventDefault();
      void app.goToFound(screen.state.search, { isScanned: false });
    },
    /** Goes on with the search for a part of a reference. */
    searchOlder: () => {
      // The button is gone while older orders are read.
      void screen.focus('#jump');
      void app.search.goOn();
    },
    follow: (view: View) => (event: Event) => {
      // The browser opens the link in another tab or window.
      const { ctrlKey, metaKey, shiftKey } = event as MouseEvent;
      event.stopPropagation();
      if (ctrlKey || metaKey || shiftKey) return;
      event.preventDefault();
      closePopover(event);
      app.go(view);
    },
    exportCsv: () => void exportCsv(screen),
    exportSelected: () => void exportCsv(screen, screen.state.selected),
    print: (paper: Paper) => () => void printOrders(screen, paper, screen.state.selected),
    /** Prints the slip of the open order. */
    printOpen: () => {
      const order = screen.state.detail?.order;
      if (order !== undefined) void printOrders(screen, 'slips', new Map([[order.id, order]]));
    },
    printScanned: (paper: Paper) => () => {
      const ready = readyIn(screen.state.scans);
      const chosen = new Map(ready.map(({ order }) => [order!.id, order!]));
      void printOrders(screen, paper, chosen);
    },
    /** Takes the text on the clipboard as a list for the page for scanning, if it has several lines. */
    paste: (event: Event) => {
      const text = (event as ClipboardEvent).clipboardData?.getData('text/plain').trim() ?? '';
      if (!text.includes('\n')) return;
      event.preventDefault();
      app.go(onPage(screen.state.view, 'scan'));
      void app.scanning.paste(text);
    },
    pasteScans: (event: Event) => {
      event.preventDefault();
      const field = fieldOf(event, 'list');
      void app.scanning.paste(field.value).then((isTaken) => {
        if (isTaken) field.value = '';
      });
    },
    /** Chooses the order of a scanned code that names several. */
    chooseScan: (number: number, id: bigint) => () => app.scanning.choose(number, id),
    removeScan: (number: number) => () => app.scanning.remove(number),
    clearScans: () => app.scanning.clear(),
    filterScans: (filter: Scans['filter']) => () =>
      screen.change((state) => (state.scans = { ...state.scans, filter })),
    exportActivity: () => exportActivity(screen),
    stopExport: () => screen.change((state) => (state.exported = undefined)),
    /** Reads the next page, or repeats the read that failed. */
    more: () => void app.readMore(),
    /** Reads the list from its beginning. */
    reload: () => void app.reload(),
    /** Follows the changes again, now. */
    reconnect: () => {
      void app.list.reconnect();
    },
    open: (id: bigint) => (event: Event) => {
      const isControl = (event.target as Element).closest('a, button, input, label') !== null;
      const isSelectingText = String(getSelection()) !== '';
      if (!isControl && !isSelectingText) app.go({ ...screen.state.view, order: id });
    },
    copy: (text: string, what: string) => (event: Event) => {
      event.stopPropagation();
      void app.copy(text, what);
    },
    select: (id: bigint) => () => toggle(screen, id),
    selectAll: () => toggleAll(screen),
    /** Selects all pending orders that match the filters, shown or not. */
    selectMatching: () => void selectMatching(screen),
    clearSelection: () => app.clearSelection(),
    stopBulk: () =>
      screen.change((state) => {
        if (state.bulk !== undefined) state.bulk = { ...state.bulk, isStopping: true };
      }),
    retryFailed: () => void app.changing.retryFailed(),
    closeBulk: () => screen.change((state) => (state.bulk = undefined)),
    closeDetails: (event: Event) => {
      event.preventDefault();
      app.go({ ...screen.state.view, order: undefined });
    },
    readDetails: () => void readDetails(screen),
    /** Tries the known key again. */
    resume: () => void app.resume(),
    readActivity: () => void readActivity(screen),
    markDay: (index: number | undefined) => () =>
      screen.change((state) => {
        if (state.activity !== undefined) state.activity = { ...state.activity, marked: index };
      }),
    readChangesOfKey: () => void readChangesOfKey(screen),
    exportKey: () => exportKey(screen),
    keys: keyActions(screen, app.keys),
    /** Reads again what an invitation is for. */
    readInvitation: () => void app.invitation.read(),
    acceptInvitation: (event: Event) => {
      event.preventDefault();
      void app.invitation.accept();
    },
    declineInvitation: () => {
      app.invitation.close();
      if (screen.state.session === undefined) void app.resume();
    },
    /** Signs in with the secret that was made. */
    useSecret: (event: Event) => {
      event.preventDefault();
      void app.useSecret();
    },
    readWebhooks: () => void readWebhooks(screen),
    webhook: (id: string, action: 'pause' | 'resume' | 'test') => () =>
      void changeWebhook(screen, id, action),
  };
}
