import type { OrderEventType } from '../orders/lifecycle.ts';
import { parseInt64 } from '../orders/order.ts';
import type { FeedPosition } from './feed.ts';

/** Format of the cursors; a later release can still read those of an earlier one. */
const FORMAT = 1;

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

/** Encodes the parts of a cursor. */
export function encoded(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Decodes the parts of a cursor; undefined if it is not one. */
export function decoded(cursor: string): readonly unknown[] | undefined {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const isPart = (part: unknown) => typeof part === 'string' || typeof part === 'number';
    return Array.isArray(parts) && parts.every(isPart) ? parts : undefined;
  } catch {
    return undefined;
  }
}
