import type { OrderEventType } from '../orders/lifecycle.ts';
import { parseInt64 } from '../orders/order.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { FeedPosition, FeedStart } from './feed.ts';

/** Returns the cursor of a position in the feed of changes. */
export function feedCursor({ storeId, revision, last }: FeedPosition): string {
  const event = last && [String(last.orderId), last.type, String(last.at), last.by ?? ''];
  return encodeCursor([storeId, String(revision), ...(event ?? [])]);
}

/** Returns the position of a cursor; undefined if it is not a cursor. */
export function parseFeedCursor(cursor: string): FeedPosition | undefined {
  const [storeId, revisionText, ...event] = decodeCursor(cursor) ?? [];
  const revision = parseInt64(String(revisionText));
  if (storeId === undefined || revision === undefined) return undefined;
  const last = event.length === 0 ? undefined : lastOf(event);
  const position = { storeId, revision, last };
  return feedCursor(position) === cursor ? position : undefined;
}

/** Parses a cursor, `start` or `now`; returns undefined for any other text. */
export function parseFeedStart(text: string): FeedStart | undefined {
  return text === 'start' || text === 'now' ? text : parseFeedCursor(text);
}

function lastOf([orderId, type, at, by]: readonly string[]): FeedPosition['last'] {
  return {
    orderId: parseInt64(String(orderId)) ?? 0n,
    type: type as OrderEventType,
    at: Number(at),
    by: by === '' ? undefined : by,
  };
}
