import type { OrderRecord } from '@store-orders/client';
import type { Handler } from './handlers.ts';
import type { keyActions } from './keys/key-actions.ts';
import type { View } from './list/address.ts';
import type { viewActions } from './list/view-actions.ts';
import type { Action, Dialog, Paper, Scans } from './state.ts';

/** The actions of a user, as event handlers. */
export interface Actions extends ReturnType<typeof viewActions> {
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
  /** @param only ids of orders; all that match if undefined */
  readonly exportCsv: (only?: readonly bigint[]) => Handler;
  readonly exportActivity: Handler;
  readonly exportKey: Handler;
  readonly print: (paper: Paper, ids: readonly bigint[]) => Handler;
  readonly stopExport: Handler;
  /** Reads the next page, or repeats the read that failed. */
  readonly more: Handler;
  readonly reload: Handler;
  /** Follows the changes again, now. */
  readonly reconnect: Handler;
  readonly open: (id: bigint) => Handler;
  readonly copy: (text: string, what: string) => Handler;
  readonly select: (id: bigint) => Handler;
  readonly selectAll: Handler;
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
  /** Takes the text on the clipboard as a list for the page for scanning, if it has several lines. */
  readonly paste: Handler;
  /** Takes the list in the form. */
  readonly pasteScans: Handler;
  readonly chooseScan: (number: number, id: bigint) => Handler;
  readonly removeScan: (number: number) => Handler;
  readonly clearScans: Handler;
  readonly takeBackScan: Handler;
  readonly filterScans: (filter: Scans['filter']) => Handler;
  /** Whether the order of the dialog is placed again after its cancel. */
  readonly setAgain: Handler;
  /** Opens the form of a new order, with the values of a cancelled one if it is given. */
  readonly openForm: (order?: OrderRecord) => Handler;
  readonly editDraft: Handler;
  readonly placeOrder: Handler;
  readonly startAnother: Handler;
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
  readonly readChangesOfKey: Handler;
  readonly keys: ReturnType<typeof keyActions>;
  readonly readInvitation: Handler;
  readonly acceptInvitation: Handler;
  readonly declineInvitation: Handler;
  /** Signs in with the secret that was made. */
  readonly useSecret: Handler;
  readonly readWebhooks: Handler;
  readonly webhook: (id: string, action: 'pause' | 'resume' | 'test') => Handler;
}
