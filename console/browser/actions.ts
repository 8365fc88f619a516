import type { ManagedKey, OrderRecord } from '@store-orders/client';
import type { QuestionKind } from './keys/key-state.ts';
import type { Preset } from './keys/new-key.ts';
import type { View } from './list/address.ts';
import type { FilterName } from './list/filters.ts';
import type { RangeName } from './list/range.ts';
import type { Column } from './preferences.ts';
import type { Action, Dialog, Paper, Scans } from './state.ts';

export type Handler = (event: Event) => void;

/** A handler that does something instead of what the browser would do. */
export const instead =
  (handler: Handler): Handler =>
  (event) => {
    event.preventDefault();
    handler(event);
  };

/** The actions of a user, as event handlers. */
export interface Actions {
  readonly signIn: Handler;
  readonly signOut: Handler;
  /** Shows or hides the typed key. */
  readonly showKey: Handler;
  /** Moves the focus past the bar. */
  readonly skip: Handler;
  readonly search: Handler;
  /** Moves between the search box and its results. */
  readonly searchKey: Handler;
  /** Opens the order whose id is typed, or lists the orders with the typed reference. */
  readonly submitSearch: Handler;
  /** Goes on with the search for a part of a reference. */
  readonly searchOlder: Handler;
  /** Goes to the view of a link. */
  readonly follow: (view: View) => Handler;
  /** Applies the form of a filter. */
  readonly filter: (name: FilterName) => Handler;
  /** Counts the orders of the range in the form. */
  readonly preview: (name: RangeName) => Handler;
  readonly openRange: (name: RangeName) => Handler;
  readonly toggleStatus: (status: View['statuses'][number]) => Handler;
  /** Keeps the view under the name in the form. */
  readonly keepView: Handler;
  readonly forgetView: (name: string) => Handler;
  readonly toggleColumn: (column: Column) => Handler;
  /** Observes which columns of the head have room. */
  readonly observeHead: (head: Element | undefined) => void;
  readonly setCompact: (isCompact: boolean) => Handler;
  readonly setShortcuts: Handler;
  readonly exportCsv: Handler;
  /** Writes the selected orders to a file. */
  readonly exportSelected: Handler;
  readonly exportActivity: Handler;
  /** Writes what a key did on a day to a file. */
  readonly exportKey: Handler;
  /** Prints the selected orders. */
  readonly print: (paper: Paper) => Handler;
  readonly stopExport: Handler;
  /** Reads the next page, or repeats the read that failed. */
  readonly more: Handler;
  /** Reads the list from its beginning. */
  readonly reload: Handler;
  /** Follows the changes again, now. */
  readonly reconnect: Handler;
  readonly open: (id: bigint) => Handler;
  readonly copy: (text: string, what: string) => Handler;
  readonly select: (id: bigint) => Handler;
  /** Selects all pending orders shown, or none if all are selected. */
  readonly selectAll: Handler;
  /** Selects all pending orders that match the filters, shown or not. */
  readonly selectMatching: Handler;
  readonly clearSelection: Handler;
  /** Asks before the open order is cancelled or shipped. */
  readonly act: (action: Action) => Handler;
  readonly actOnSelected: (action: Action) => Handler;
  /** Sets the reason or the tracking number in the dialog. */
  readonly setGiven: Handler;
  /** Sets the number that confirms a change of many orders. */
  readonly setTyped: Handler;
  /** Cancels or ships what was scanned and is ready. */
  readonly actOnScanned: (action: Action) => Handler;
  /** Prints the slip of the open order. */
  readonly printOpen: Handler;
  readonly printScanned: (paper: Paper) => Handler;
  /** Takes the text on the clipboard as a list for the page for scanning, if it has several lines. */
  readonly paste: Handler;
  /** Takes the list in the form. */
  readonly pasteScans: Handler;
  /** Chooses the order of a scanned code that names several. */
  readonly chooseScan: (number: number, id: bigint) => Handler;
  readonly removeScan: (number: number) => Handler;
  readonly clearScans: Handler;
  readonly takeBackScan: Handler;
  readonly filterScans: (filter: Scans['filter']) => Handler;
  readonly setSound: Handler;
  /** Whether the order of the dialog is placed again after its cancel. */
  readonly setAgain: Handler;
  /** Opens the form of a new order. */
  readonly openForm: Handler;
  /** Opens it with the values of a cancelled order. */
  readonly placeAgain: (order: OrderRecord) => Handler;
  readonly editDraft: Handler;
  readonly placeOrder: Handler;
  /** Opens another form, after one whose outcome is not known. */
  readonly startAnother: Handler;
  /** Confirms the dialog. */
  readonly confirm: Handler;
  readonly showDialog: (dialog: Dialog) => Handler;
  readonly closeDialog: Handler;
  /** Does the first of what the commands have found. */
  readonly runFirst: (otherwise: Handler) => Handler;
  /** Closes the commands, and goes on with one of them. */
  readonly close: (next: Handler) => Handler;
  readonly stopBulk: Handler;
  readonly retryFailed: Handler;
  readonly closeBulk: Handler;
  readonly closeDetails: Handler;
  readonly readDetails: Handler;
  /** Tries the known key again. */
  readonly resume: Handler;
  readonly readActivity: Handler;
  readonly markDay: (index: number | undefined) => Handler;
  /** Shows what a key did on the days that are shown. */
  readonly readChangesOfKey: Handler;
  readonly keys: KeyActions;
  /** Reads again what an invitation is for. */
  readonly readInvitation: Handler;
  readonly acceptInvitation: Handler;
  readonly declineInvitation: Handler;
  /** Signs in with the secret that was made. */
  readonly useSecret: Handler;
  readonly readWebhooks: Handler;
  readonly webhook: (id: string, action: 'pause' | 'resume' | 'test') => Handler;
}

/** What a user does with keys. */
interface KeyActions {
  readonly read: Handler;
  readonly showMore: Handler;
  /** Opens the form of a new key. */
  readonly start: (preset?: Preset['id']) => Handler;
  /** Takes over what was changed in the form. */
  readonly edit: Handler;
  /** Creates the key of the form. */
  readonly create: Handler;
  /** Opens another form, after one whose outcome is not known. */
  readonly startAnother: Handler;
  /** Asks before a key is changed or revoked, or its secret replaced. */
  readonly ask: (kind: QuestionKind, key: ManagedKey) => Handler;
  /** Takes over what was chosen in the dialog. */
  readonly answer: Handler;
  /** Carries out what the dialog asks. */
  readonly confirm: Handler;
  /** Shows or hides the code of an invitation. */
  readonly toggleCode: Handler;
}
