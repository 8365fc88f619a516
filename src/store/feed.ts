import { BEGINNING, type Position, parsePosition } from '../../protocol/history.ts';
import type { OrderChange } from '../domain/change.ts';
import type { OrderEventType } from '../domain/lifecycle.ts';
import type { OrderId } from '../domain/order.ts';

/** Where to begin: after a position, before the first change, or after everything in the store. */
export type FeedStart = Position | 'start' | 'now';

/** Parses a position, `start` or `now`; returns undefined for any other text. */
export function parseFeedStart(text: string): FeedStart | undefined {
  return text === 'start' || text === 'now' ? text : parsePosition(text);
}

export function startPosition(start: FeedStart, now: Position): Position {
  if (start === 'now') return now;
  return start === 'start' ? BEGINNING : start;
}

/** Whole revisions of the feed, in order of revision, then order id. */
export interface ChangePage {
  readonly changes: readonly OrderChange[];
  /** The position after the last change. */
  readonly position: Position;
  /** Whether there were further changes. */
  readonly isMore: boolean;
  /** The position after everything in the store. */
  readonly now: Position;
}

/** Maximum `limit` of Store.feed. */
export const MAX_CHANGES = 500;

/** The rows that an engine has read for a page of the feed. */
interface FeedRead {
  /** The position at which the page begins. */
  readonly from: Position;
  readonly now: Position;
  readonly changes: readonly OrderChange[];
  /** Whether there may be further changes. */
  readonly isCut: boolean;
  /** Reads the next changes of a revision, from an order on, and whether there are further ones. */
  readonly readOn: (
    revision: bigint,
    from: OrderId,
  ) => Promise<{ readonly changes: readonly OrderChange[]; readonly isCut: boolean }>;
}

/**
 * Makes a page of whole revisions. If there are more changes than its limit, the last revision is left for the next page; if it is the only one,
 * it is read to its end.
 * @throws HistoryIncomplete if rows of the next revision, or its head, were deleted by hand
 */
export async function changePage(read: FeedRead): Promise<ChangePage> {
  const { from, now, isCut } = read;
  let { changes } = read;
  if (isCut) {
    const lastRevision = changes.at(-1)?.order.revision;
    const whole = changes.filter(({ order }) => order.revision !== lastRevision);
    changes = whole.length > 0 || changes.length === 0 ? whole : await completed(read);
  }
  const last = changes.at(-1);
  if (last === undefined && from.revision < now.revision)
    throw new HistoryIncomplete(from.revision + 1n);
  const position = last === undefined ? from : positionAfter(last);
  return { changes, position, isMore: position.revision < now.revision, now };
}

/** Conditions that a change must meet; absent ones are met by every change. */
export interface FeedFilter {
  readonly petIds?: readonly bigint[] | undefined;
  readonly types?: readonly OrderEventType[] | undefined;
  /** Id of the API key that made the change. */
  readonly by?: string | undefined;
}

export function matches(
  { petIds, types, by }: FeedFilter,
  change: Pick<OrderChange, 'type' | 'by' | 'order'>,
): boolean {
  const { petId } = change.order;
  if (petIds !== undefined && (petId === undefined || !petIds.includes(petId))) return false;
  if (types !== undefined && !types.includes(change.type)) return false;
  return by === undefined || change.by === by;
}

/** Maximum number of changes that are read for a filtered page, whether or not they match. */
const MAX_CHANGES_EXAMINED = 5_000;

/**
 * Reads a page of the changes that match a filter. Its position is after all examined changes, so it advances even if none matches. A revision
 * is never split: a page has more than `limit` changes only if they are of one revision.
 * @param read see Store.feed
 * @returns undefined if `after` is not in the past of the store
 */
export async function filteredPage(
  read: (after: FeedStart, limit: number) => Promise<ChangePage | undefined>,
  after: FeedStart,
  { filter, limit }: { readonly filter: FeedFilter; readonly limit: number },
): Promise<ChangePage | undefined> {
  const found: OrderChange[] = [];
  let position = after;
  for (let examined = 0; ; ) {
    const page = await read(position, MAX_CHANGES);
    if (page === undefined) return undefined;
    for (const revision of Map.groupBy(page.changes, ({ order }) => order.revision).values()) {
      const matching = revision.filter((change) => matches(filter, change));
      if (found.length > 0 && found.length + matching.length > limit) {
        return {
          changes: found,
          position: startPosition(position, page.now),
          isMore: true,
          now: page.now,
        };
      }
      found.push(...matching);
      position = positionAfter(revision.at(-1)!);
    }
    position = page.position;
    examined += page.changes.length;
    if (!page.isMore || found.length >= limit || examined >= MAX_CHANGES_EXAMINED) {
      return { ...page, changes: found };
    }
  }
}

/**
 * Reads the rest of a revision. Its changes are durable, so no snapshot is needed. An order can have two changes in a revision, so each part
 * begins with the last order of the part before.
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
 * Returns whether a position is in the past of a store: the store's history up to that revision has the same head.
 * @param now the current position of the store
 * @param head of the position's revision, in that store; undefined if it has no such revision
 */
export function isPast(position: Position, now: Position, head: string | undefined): boolean {
  if (position.revision === now.revision) return position.head === now.head;
  if (position.revision > now.revision) return false;
  return position.head === (position.revision === 0n ? BEGINNING.head : head);
}

/**
 * Returns the position after the last change of a revision.
 * @throws HistoryIncomplete if that change has no head, since rows were deleted by hand
 */
export function positionAfter({ order: { revision }, head }: OrderChange): Position {
  if (head !== undefined) return { revision, head };
  throw new HistoryIncomplete(revision);
}

/** The feed cannot continue, since rows of a revision were deleted by hand. The message is for the operator. */
export class HistoryIncomplete extends Error {
  override readonly name = 'HistoryIncomplete';

  constructor(revision: bigint) {
    super(`revision ${revision} is not complete; run "store-orders check"`);
  }
}
