import type { OrderChange } from '../orders/change.ts';
import type { OrderEventType } from '../orders/lifecycle.ts';
import type { OrderId } from '../orders/order.ts';

/** The last event of a revision, which identifies the history up to that revision. */
export interface LastEvent {
  readonly orderId: OrderId;
  readonly type: OrderEventType;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly by: string | undefined;
}

/** A position in the feed of changes, after all events of a revision. */
export interface FeedPosition {
  readonly storeId: string;
  readonly revision: bigint;
  /** Undefined at revision 0. */
  readonly last: LastEvent | undefined;
}

/** Where to begin: after a position, before the first change, or after everything in the store. */
export type FeedStart = FeedPosition | 'start' | 'now';

/** Returns the position of a start. */
export function startPosition(start: FeedStart, now: FeedPosition): FeedPosition {
  if (start === 'now') return now;
  return start === 'start' ? { ...now, revision: 0n, last: undefined } : start;
}

/** Whole revisions of the feed, in order of revision, then order id. */
export interface ChangePage {
  readonly changes: readonly OrderChange[];
  /** The position after the last change. */
  readonly position: FeedPosition;
  /** Whether there were further changes. */
  readonly isMore: boolean;
  /** The position after everything in the store. */
  readonly now: FeedPosition;
}

/** Maximum `limit` of Store.feed. */
export const MAX_CHANGES = 500;

/** What an engine has read for a page of the feed. */
export interface FeedRead {
  /** Where the page begins. */
  readonly from: FeedPosition;
  readonly now: FeedPosition;
  readonly changes: readonly OrderChange[];
  /** Whether there may be further changes. */
  readonly isCut: boolean;
  /** Reads the next changes of a revision, beginning with those of an order, and whether they are cut off too. */
  readonly readOn: (
    revision: bigint,
    from: OrderId,
  ) => Promise<{ readonly changes: readonly OrderChange[]; readonly isCut: boolean }>;
}

/** Makes a page of whole revisions: the last one is cut off unless it is the only one, and then completed. */
export async function changePage(read: FeedRead): Promise<ChangePage> {
  const { from, now, isCut } = read;
  let { changes } = read;
  if (isCut) {
    const whole = wholeRevisions(changes);
    changes = whole.length > 0 || changes.length === 0 ? whole : await completed(read);
  }
  const position = changes.length === 0 ? from : positionAfter(now.storeId, changes.at(-1)!);
  return { changes, position, isMore: position.revision < now.revision, now };
}

/** Returns the changes without those of the last revision. */
function wholeRevisions(changes: readonly OrderChange[]): readonly OrderChange[] {
  const lastRevision = changes.at(-1)?.order.revision;
  const end = changes.findIndex(({ order }) => order.revision === lastRevision);
  return changes.slice(0, Math.max(end, 0));
}

/**
 * Reads all changes of a revision, of which the first were read. They are durable, so this needs no snapshot. An order
 * can have two changes in a revision, so each part begins with the last order of the one before.
 */
async function completed({ changes: first, readOn }: FeedRead): Promise<readonly OrderChange[]> {
  const changes = [...first];
  for (let isCut = true; isCut; ) {
    const { id, revision } = changes.at(-1)!.order;
    while (changes.at(-1)?.order.id === id) changes.pop();
    const part = await readOn(revision, id);
    changes.push(...part.changes);
    isCut = part.isCut;
  }
  return changes;
}

/**
 * Returns whether the history of a store contains the last event before a position.
 * @param now the current position of the store
 * @param event the last event of the position's revision that the store has
 */
export function isInHistory(
  { storeId, revision, last }: FeedPosition,
  now: FeedPosition,
  event: LastEvent | undefined,
): boolean {
  if (storeId !== now.storeId || revision > now.revision) return false;
  if (revision === 0n) return true;
  if (event === undefined || last === undefined) return false;
  const fields = ['orderId', 'type', 'at', 'by'] as const;
  return fields.every((field) => event[field] === last[field]);
}

/** Returns the position after the last change of a revision. */
export function positionAfter(storeId: string, { type, by, order }: OrderChange): FeedPosition {
  const last = { orderId: order.id, type, at: order.updatedAt, by };
  return { storeId, revision: order.revision, last };
}
