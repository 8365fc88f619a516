import type {
  Activity,
  Change,
  Key,
  KeySecret,
  ManagedKey,
  OrderCounts,
  OrderHistory,
  OrderRecord,
  Store,
  Webhook,
} from '@store-orders/client';
import type { KeyDraft } from './keys/new-key.ts';
import type { View } from './list/address.ts';
import type { Draft } from './placing/draft.ts';
import { type Column, storedPreferences } from './preferences.ts';
import type { Session } from './sign-in.ts';

export type Action = 'cancel' | 'ship';

/** What is printed: a slip for each order, or one list of the pets to pick. */
export type Paper = 'slips' | 'pick-list';

/** Everything that the page shows. A new one is that of a page where nobody has signed in. */
export class State {
  session: Session | undefined;
  /** Why signing in failed, or why the session ended. */
  signInProblem: string | undefined;
  isSigningIn = false;
  /** Whether the known key is tried until the service can be reached. */
  isResuming = false;
  view: View;
  preferences = storedPreferences();
  /** Whether the window has room for details beside the list. */
  isWide = true;
  /** The columns that are not shown, left out or without room. */
  unseen: readonly Column[] = [];
  /** Whether it is as narrow as on a phone. */
  isNarrow = false;
  search = '';
  /** What was found last. */
  found: Found | undefined;
  /** Why the text could not be looked up. */
  searchProblem: string | undefined;
  /** In the order of the view; rows stay where they are when they change. */
  orders: OrderRecord[] = [];
  /** The cursor of the next page; undefined at the end. */
  next: string | undefined;
  isLoading = false;
  /** Whether loading takes so long that it is shown. */
  isSlow = false;
  problem: string | undefined;
  /** Ids of orders that have come to match the filters since the list was read. */
  newer = new Set<bigint>();
  /** Changes that arrived while a page was read; they are applied to it. */
  waiting: Change[] = [];
  store: Store | undefined;
  /** Of the orders that match the filters, in any status. */
  counts: OrderCounts | undefined;
  /** Numbers of pending orders, by filter and range. */
  rangeCounts = new Map<string, OrderCounts>();
  /** off: the key may not read changes. */
  live: 'starting' | 'live' | 'lost' | 'off' = 'starting';
  /** The last time at which the list was current. */
  liveUntil: Date | undefined;
  /** By their ids; orders that are selected together need not be shown. */
  selected = new Map<bigint, OrderRecord>();
  /** The current order of the keyboard. */
  current: bigint | undefined;
  /** Orders that another key has changed just now. */
  changed = new Set<bigint>();
  /** The progress of selecting all orders that match. */
  selecting:
    | {
        readonly ending: AbortController;
        /** Orders that have been cancelled or shipped since it began. */
        readonly ended: Set<bigint>;
        readonly count: number;
      }
    | undefined;
  scans: Scans = {
    lines: [],
    cleared: [],
    filter: undefined,
    isReading: false,
    problem: undefined,
  };
  bulk: Bulk | undefined;
  dialog: Dialog | undefined;
  /** A message that is shown for some seconds. */
  toast: { readonly text: string; readonly isProblem: boolean } | undefined;
  printed: { readonly paper: Paper; readonly orders: readonly OrderRecord[] } | undefined;
  isPrinting = false;
  /** The order that was placed last in this tab. */
  placed: bigint | undefined;
  /** Orders written to a file so far; undefined if none is being written. */
  exported: number | undefined;
  detail: Detail | undefined;
  /** Undefined unless the view shows the activity. */
  activity: ActivityState | undefined;
  /** The keys that did something in the last days, for the commands; none before these were opened. */
  people: Activity['byKey'] = [];
  /** Undefined unless the view shows what a key did. */
  ofKey: ChangesOfKey | undefined;
  webhooks: WebhooksState | undefined;
  keys: KeysState | undefined;
  /** The form of a new key; it stays until it is sent. */
  newKey: KeyDraft | undefined;
  /** Shown in place of everything else. */
  invitation: InvitationState | undefined;

  constructor(view: View) {
    this.view = view;
  }
}

/** The orders that a text means. */
export interface Found {
  /** As it was typed or scanned. */
  readonly text: string;
  /** The order whose id it is. */
  readonly byId: OrderRecord | undefined;
  /** The orders whose reference it is, up to a few. */
  readonly exact: readonly OrderRecord[];
  /** Other orders whose references begin with it, up to a few. */
  readonly beginning: readonly OrderRecord[];
  /** Undefined if no part was looked for: an order was found by its whole reference, or the text is too short. */
  readonly containing: Containing | undefined;
}

/** Orders whose references contain a text, in any case. */
export interface Containing {
  /** The newest first, without those of `beginning`, up to a few. */
  readonly orders: readonly OrderRecord[];
  /** How many of the newest orders have been examined; undefined for all of them. */
  readonly examined: number | undefined;
  /** The cursor of older orders; undefined at the end, or if more were found than are shown. */
  readonly older: string | undefined;
  readonly isReading: boolean;
  /** Why the last read of older orders failed. */
  readonly problem: string | undefined;
}

/** A code that was scanned or pasted. */
export interface Scan {
  /** Counts up with each scan. */
  readonly number: number;
  readonly text: string;
  /** RFC 3339. */
  readonly at: string;
  /** How often it was scanned. */
  readonly times: number;
  readonly trackingNumber: string | undefined;
  /** What it names; undefined until it has been looked up. */
  readonly orders: readonly OrderRecord[] | undefined;
  /** The id of the order that is meant, of several. */
  readonly chosen: bigint | undefined;
  /** Whether the tracking number is the id or the reference of an order. */
  readonly isMistaken: boolean;
}

/** What was scanned. */
export interface Scans {
  /** The latest first. */
  readonly lines: readonly Scan[];
  /** The lines of a list that was cleared, until the next scan. */
  readonly cleared: readonly Scan[];
  /** Which lines are shown; all if undefined. */
  readonly filter: 'ready' | 'done' | 'open' | undefined;
  /** Whether a pasted list is looked up. */
  readonly isReading: boolean;
  readonly problem: string | undefined;
}

/** The order whose details are open. */
export interface Detail {
  readonly id: bigint;
  readonly order: OrderRecord | undefined;
  readonly events: OrderHistory['events'];
  /** How many other orders the pet has. */
  readonly others: OrderCounts | undefined;
  /** Why the order could not be read; empty if there is none. */
  readonly problem: string | undefined;
  /** The failure of the last action; undefined after a success. */
  readonly failure: Failure | undefined;
}

/** An action on an order that did not succeed, in words. */
export interface Failure {
  readonly action: Action;
  readonly title: string;
  readonly text: string;
  readonly isRetryable: boolean;
  /** Why the outcome was not known; an order that has the status asked for counts as done then. Undefined if it was known. */
  readonly reason?: string | undefined;
}

/** The result for one order of an action on several. */
export interface Result {
  readonly id: bigint;
  /** done; fact: the order was in a final state already; unknown, failed, or untried after a stop: can be tried again. */
  readonly kind: 'done' | 'fact' | 'unknown' | 'failed' | 'untried';
  readonly text: string;
  /** As of a Failure. */
  readonly reason?: string | undefined;
}

/** What is to become of several orders. */
export interface SeveralToChange {
  readonly action: Action;
  readonly ids: readonly bigint[];
  /** The reason of a cancel; empty for none. */
  readonly given: string;
  /** Of a shipment, by the ids of orders. */
  readonly trackingNumbers: ReadonlyMap<bigint, string>;
}

/** An action on several orders. */
export interface Bulk extends SeveralToChange {
  readonly results: Map<bigint, Result>;
  readonly isRunning: boolean;
  readonly isStopping: boolean;
}

/** A dialog above the page. */
export type Dialog =
  | {
      readonly kind: 'one';
      readonly action: Action;
      readonly order: OrderRecord;
      readonly by: string | undefined;
      /** The reason of a cancel, or the tracking number of a shipment; empty for none. */
      readonly given: string;
      /** Whether the cancelled order is to be placed again, with other values. */
      readonly isAgain: boolean;
      readonly isActing: boolean;
      readonly failure: Failure | undefined;
    }
  | (SeveralToChange & {
      readonly kind: 'several';
      /** Ids that were among them until another key changed these orders. */
      readonly ended: readonly bigint[];
      /** Which should have been shipped before today. */
      readonly overdue: ReadonlySet<bigint>;
      /** The number that confirms a change of many orders, as typed. */
      readonly typed: string;
    })
  | {
      readonly kind: 'place';
      readonly draft: Draft;
      readonly isActing: boolean;
      readonly problem: string | undefined;
      /** The field that the problem is about, if it is about one. */
      readonly field: string | undefined;
    }
  | (KeyQuestion & {
      readonly kind: 'rotate';
      /** How the secret is replaced: with an overlap in seconds, or by an invitation. */
      readonly choice: '86400' | '604800' | '0' | 'invitation';
      /** Identifies the request, so that a repetition makes the same secret. */
      readonly idempotencyKey: string;
      /** Whether it was sent, and its outcome is not known. */
      readonly isSent: boolean;
    })
  | (KeyQuestion & { readonly kind: 'revoke' })
  | (KeyQuestion & {
      readonly kind: 'change';
      readonly name: string;
      readonly ends: KeyDraft['ends'] | 'as-is';
      readonly day: string;
      /** Whether the secret that was replaced ends now. */
      readonly endsFormer: boolean;
    })
  | {
      /** A secret, or an invitation, that is shown once. */
      readonly kind: 'made';
      readonly made: KeySecret;
      readonly isNew: boolean;
      readonly isCodeHidden: boolean;
    }
  | { readonly kind: 'results' | 'keys' | 'palette' };

/** A question about a key. */
export interface KeyQuestion {
  readonly key: ManagedKey;
  readonly isActing: boolean;
  readonly problem: string | undefined;
}

export type QuestionKind = 'change' | 'rotate' | 'revoke';

/** The keys of the store, as they were read last. */
interface KeysState {
  readonly found: readonly ManagedKey[] | undefined;
  readonly problem: string | undefined;
  /** How many rows are shown at most. */
  readonly most: number;
}

/** What the page shows of an invitation. The ticket is not part of it. */
export interface InvitationState {
  /** What it is for; undefined until that is known. */
  readonly key: Key | undefined;
  /** Whether this browser is signed in with another key. */
  readonly isSignedIn: boolean;
  readonly isActing: boolean;
  readonly problem: string | undefined;
  /** Whether it is of no use: only another one helps. */
  readonly isOver: boolean;
  /** The secret that was made, until it is used to sign in. */
  readonly secret: string | undefined;
}

/** What the key of the view did on its day. */
export interface ChangesOfKey {
  readonly by: string;
  /** The counts of the days around; undefined while they are read. */
  readonly days: Activity | undefined;
  /** In the order of the feed. */
  readonly changes: readonly Change[];
  /** Changes of the key, of any day, that arrived while they were read. */
  readonly waiting: Change[];
  /** cut: the store has more changes on that day than are read. */
  readonly state: 'reading' | 'whole' | 'cut' | 'failed';
  readonly problem: string | undefined;
  readonly ending: AbortController;
}

/** The activity of the last days. */
export interface ActivityState {
  /** One of DAY_COUNTS. */
  readonly days: number;
  /** The latest counts; undefined before the first. */
  readonly found: Activity | undefined;
  /** The day of the view, and its counts; undefined without one, and before the first. */
  readonly day: string;
  readonly ofDay: Activity | undefined;
  /** Ends the current count; undefined if there is none. */
  readonly reading: AbortController | undefined;
  /** Changes that arrived while it was read. */
  readonly waiting: Change[];
  readonly problem: string | undefined;
  /** The day that is marked in all charts. */
  readonly marked: number | undefined;
}

interface WebhooksState {
  readonly found: readonly Webhook[] | undefined;
  readonly problem: string | undefined;
  /** The result of the last action on a webhook, by its id. */
  readonly notes: ReadonlyMap<string, string>;
}

/** The name of the store, if it has one; otherwise that of the program. */
export const nameOf = ({ store }: State): string =>
  store?.name ?? document.documentElement.dataset.store!;

/** The columns that are left out. */
export const hiddenIn = ({ view, preferences }: State): readonly Column[] =>
  view.without ?? preferences.hidden;

/** The words for an action, in buttons and in reports. */
export const WORDS = {
  cancel: { verb: 'Cancel', doing: 'Cancelling', done: 'cancelled', keep: 'Keep' },
  ship: { verb: 'Ship', doing: 'Shipping', done: 'shipped', keep: 'Do not ship' },
} as const;
