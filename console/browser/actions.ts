import type { View } from './list/view.ts';
import type { Column } from './preferences.ts';
import type { Action, Dialog } from './state.ts';

export type Handler = (event: Event) => void;

/** What a reader can do, as handlers of events. */
export interface Actions {
  readonly signIn: Handler;
  readonly signOut: Handler;
  /** Shows or hides what is typed as the key. */
  readonly showKey: Handler;
  readonly search: Handler;
  /** Opens the order that is typed, or lists what has the reference that is typed. */
  readonly submitSearch: Handler;
  /** Goes to another view, as its link says. */
  readonly follow: (view: View) => Handler;
  /** Applies the form of a filter. */
  readonly filter: (name: 'pet' | 'reference' | 'ships' | 'placed') => Handler;
  /** Counts what the form of a range would show. */
  readonly preview: (name: 'ships' | 'placed') => Handler;
  readonly openRange: (name: 'ships' | 'placed') => Handler;
  readonly toggleColumn: (column: Column) => Handler;
  readonly setCompact: (isCompact: boolean) => Handler;
  readonly setShortcuts: Handler;
  readonly exportCsv: Handler;
  readonly stopExport: Handler;
  /** Reads the next page, or the one that failed. */
  readonly more: Handler;
  /** Reads the list from its beginning. */
  readonly reload: Handler;
  /** Follows the changes again, now. */
  readonly reconnect: Handler;
  readonly open: (id: bigint) => Handler;
  readonly copy: (text: string, what: string) => Handler;
  readonly select: (id: bigint) => Handler;
  /** Selects all orders shown that can be acted upon, or none if all are selected. */
  readonly selectAll: Handler;
  /** Selects all pending orders that match the filters, shown or not. */
  readonly selectMatching: Handler;
  readonly clearSelection: Handler;
  /** Cancels or ships the open order; a cancel is asked for. */
  readonly act: (action: Action) => Handler;
  readonly actOnSelected: (action: Action) => Handler;
  /** Does what the dialog has asked for. */
  readonly confirm: Handler;
  readonly showDialog: (dialog: Dialog) => Handler;
  readonly closeDialog: Handler;
  readonly stopBulk: Handler;
  readonly retryFailed: Handler;
  readonly closeBulk: Handler;
  readonly closeDetails: Handler;
  readonly readDetails: Handler;
  /** Tries the key that is known again. */
  readonly resume: Handler;
  readonly readActivity: Handler;
  readonly markDay: (index: number | undefined) => Handler;
  readonly readWebhooks: Handler;
  readonly webhook: (id: string, action: 'pause' | 'resume' | 'test') => Handler;
}
