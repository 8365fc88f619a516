import type { View } from './query.ts';

type Handler = (event: Event) => void;

/** What a reader can do, as handlers of events. */
export interface Actions {
  readonly signIn: Handler;
  readonly signOut: Handler;
  /** Opens the order whose id is entered. */
  readonly jump: Handler;
  readonly filter: Handler;
  readonly clearFilters: Handler;
  /** Reads the next page, or the one that failed. */
  readonly more: Handler;
  /** Reads the list from its newest order. */
  readonly reload: Handler;
  /** Reads the activity, which has failed. */
  readonly readActivity: Handler;
  readonly clearSelection: Handler;
  /** Selects all orders shown that can be acted upon, or none if all are selected. */
  readonly selectAll: Handler;
  /** Selects all pending orders that match the filters, shown or not. */
  readonly selectMatching: Handler;
  /** Goes to another view, as its link says. */
  readonly follow: (view: View) => Handler;
  readonly select: (id: bigint) => Handler;
  readonly act: (action: 'cancel' | 'ship') => Handler;
  readonly actOnSelected: (action: 'cancel' | 'ship') => Handler;
}
