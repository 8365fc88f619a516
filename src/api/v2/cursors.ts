import { createHash } from 'node:crypto';
import type { OrderEventType } from '../../orders/lifecycle.ts';
import { type OrderId, parseInt64 } from '../../orders/order.ts';
import type { FeedPosition, PageQuery } from '../../store/pages.ts';

/** Format of the cursors; a later release can still read those of an earlier one. */
const FORMAT = 1;

/** What a cursor of a page belongs to. */
type Walk = Pick<PageQuery, 'filter' | 'isDescending'>;

/** Returns the cursor of the page behind `after`. It depends on filters and order only, so it never expires. */
export function pageCursor(walk: Walk, after: OrderId): string {
  return encoded([FORMAT, digestOf(walk), String(after)]);
}

/** Returns the id behind which the page of a cursor begins; undefined if it is not a cursor of this walk. */
export function parsePageCursor(cursor: string, walk: Walk): OrderId | undefined {
  const after = parseInt64(String(decoded(cursor)?.[2]));
  return after !== undefined && pageCursor(walk, after) === cursor ? after : undefined;
}

function digestOf({ filter, isDescending }: Walk): string {
  const { statuses, petId, shipDateFrom, shipDateBefore } = filter;
  const parts = [statuses, petId, shipDateFrom, shipDateBefore, isDescending].map(String);
  return createHash('sha256').update(parts.join('|')).digest('base64url').slice(0, 12);
}

/** Returns the cursor of a position in the feed of changes. */
export function feedCursor({ storeId, revision, last }: FeedPosition): string {
  const event = last && [String(last.orderId), last.type, String(last.at), last.by ?? ''];
  return encoded([FORMAT, storeId, String(revision), ...(event ?? [])]);
}

/** Returns the position of a cursor; undefined if it is not a cursor. */
export function parseFeedCursor(cursor: string): FeedPosition | undefined {
  const [, storeId, revisionText, ...event] = (decoded(cursor) ?? []).map(String);
  const revision = parseInt64(String(revisionText));
  if (storeId === undefined || revision === undefined) return undefined;
  const last = event.length === 0 ? undefined : lastOf(event);
  const position = { storeId, revision, last };
  return feedCursor(position) === cursor ? position : undefined;
}

function lastOf([orderId, type, at, by]: readonly string[]): FeedPosition['last'] {
  return {
    orderId: parseInt64(String(orderId)) ?? 0n,
    type: type as OrderEventType,
    at: Number(at),
    by: by === '' ? undefined : by,
  };
}

function encoded(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function decoded(cursor: string): readonly unknown[] | undefined {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}
