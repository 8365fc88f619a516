import type { Position } from './timeline.ts';

/** A change of an order that a client may ask for. */
export type ChangeType = 'cancelled' | 'shipped';

/**
 * What a response has shown, or what a request may have done. Orders and pets are decimal int64; every placement has a pet of its own, which
 * names it. `by` is the id of an API key; undefined for an operator.
 */
export type Effect =
  /** The request has changed the order. */
  | {
      readonly type: 'changed';
      readonly order: string;
      readonly change: ChangeType;
      readonly by: string | undefined;
    }
  /** The request has placed the order, unless it was repeated. */
  | {
      readonly type: 'placed';
      readonly order: string;
      readonly pet: string;
      readonly isRepeated: boolean;
    }
  /** The command has placed all of these orders, in one or more revisions. */
  | {
      readonly type: 'imported';
      readonly placed: readonly { readonly order: string; readonly pet: string }[];
    }
  /** There was no definite answer: the requested changes may have happened, at any time after the request. */
  | { readonly type: 'unknown'; readonly changes: readonly RequestedChange[] }
  /** The order was in this state: a status, `absent`, or `ended` if it was cancelled or shipped; with its entry, if it was shown. */
  | {
      readonly type: 'saw';
      readonly order: string;
      readonly status: string;
      readonly entry?: string;
      /** Whether a key has ended it, as far as that was shown. */
      readonly endedBy?: { readonly key: string; readonly isSo: boolean };
    }
  /** The whole list of version 1: its entries, in ascending id (see record.ts). */
  | {
      readonly type: 'list';
      readonly orders: string;
      /** Undefined if it was not shown. */
      readonly revision?: number;
    }
  /** The events of an order, as `revision:type:by`. */
  | { readonly type: 'history'; readonly order: string; readonly events: string }
  /** A page of version 2, at a revision. */
  | ({
      readonly type: 'page';
      readonly revision: number;
      /** Undefined if it was not shown. */
      readonly head: string | undefined;
      readonly orders: string;
      /** Whether a page follows. */
      readonly hasNext: boolean;
    } & PageAsked)
  /** The changes after one revision up to another (see `textOf`), all or some, of a store at `now`. */
  | {
      readonly type: 'feed';
      readonly after: number;
      readonly upTo: number;
      readonly now: number;
      /** At `upTo`. */
      readonly head: string;
      readonly only: ChangeFilter | undefined;
      readonly changes: string;
    }
  /** How many orders match at a revision, by status. */
  | ({
      readonly type: 'counts';
      readonly revision: number;
      readonly counts: string;
    } & Filter)
  /** What was changed in a period, by all keys or one, up to a revision; times in milliseconds since the epoch. */
  | {
      readonly type: 'activity';
      readonly revision: number;
      readonly from: number;
      readonly before: number;
      readonly by?: string | undefined;
      readonly counts: string;
    }
  /** All orders as they were at a revision, each with its status and as version 1 lists it. */
  | { readonly type: 'export'; readonly revision: number; readonly orders: string }
  /** Something has received everything up to a revision. */
  | { readonly type: 'received'; readonly revision: number };

/** The orders with all of these; what is undefined is not compared. Times are as version 2 shows them. */
export interface Filter {
  /** One or several, with commas between them. */
  readonly status?: string | undefined;
  readonly pet?: string | undefined;
  readonly reference?: string | undefined;
  readonly referencePrefix?: string | undefined;
  readonly referenceContains?: string | undefined;
  readonly updatedFrom?: string | undefined;
  readonly updatedBefore?: string | undefined;
  readonly placedFrom?: string | undefined;
  readonly placedBefore?: string | undefined;
  readonly shipDateFrom?: string | undefined;
  readonly shipDateBefore?: string | undefined;
}

/** The changes with all of these; what is undefined is not compared. */
export interface ChangeFilter {
  readonly type?: string | undefined;
  readonly pet?: string | undefined;
  /** The id of an API key. */
  readonly by?: string | undefined;
}

/** The orders that match, after a position in one of the directions; at most `limit`. */
export interface PageAsked extends Filter {
  readonly after: Position | undefined;
  /**
   * The revision of the page before, if there is a filter. That page may have examined orders beyond the last one that it returned, at `after`.
   */
  readonly since?: number | undefined;
  readonly limit: number;
  readonly sort: 'id' | 'placedAt' | 'updatedAt' | 'shipDate' | 'reference';
  readonly isDescending: boolean;
}

export interface RequestedChange {
  readonly type: ChangeType | 'placed';
  /** The order; of a placement the pet. */
  readonly of: string;
  readonly by: string | undefined;
}

/** A request or a call, with its time by the one clock of the test, in milliseconds. */
export interface Operation {
  /** What was done where, in words. */
  readonly what: string;
  readonly begin: number;
  /** Infinity if the effect may come at any time later. */
  readonly end: number;
  readonly effect: Effect;
}

/** What a reader of the feed has received without an interruption after `after`: everything or some (see `textOf`). */
export interface Received {
  readonly what: string;
  readonly after: number;
  readonly only: ChangeFilter | undefined;
  readonly changes: string[];
  /** Whether some of it arrived after the store had continued with another history: then it may be of either, but not of both. */
  isLate: boolean;
}

/** Everything that clients have seen while one history of the store was served. */
export class Observed {
  readonly operations: Operation[] = [];
  readonly received: Received[] = [];
  /** What an ETag named, in whatever history. */
  readonly #etags: Map<string, string>;
  /** Contradictions that are evident without the feed. */
  readonly findings: string[] = [];

  /** @param before what clients have seen of the history before: its ETags, and the requests that may still be carried out */
  constructor(before?: Observed) {
    this.#etags = before === undefined ? new Map() : before.#etags;
    const unknown = before?.operations.filter(({ effect }) => effect.type === 'unknown');
    this.operations.push(...(unknown ?? []));
  }

  add(operation: Operation): void {
    this.operations.push(operation);
  }

  /** An ETag names one state. */
  sawEtag(etag: string, state: string, what: string): void {
    const before = this.#etags.get(etag);
    if (before !== undefined && before !== state) {
      this.findings.push(
        `${what}: the ETag ${etag} named ${clipped(before)} before, and now ${clipped(state)}`,
      );
    }
    this.#etags.set(etag, state);
  }

  /** The state that an ETag has named; undefined if it was never handed out. */
  stateOf(etag: string): string | undefined {
    return this.#etags.get(etag);
  }
}

function clipped(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
