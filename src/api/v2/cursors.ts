import { createHash } from 'node:crypto';
import { type OrderId, parseInt64 } from '../../orders/order.ts';
import { decodeCursor, encodeCursor } from '../../store/cursor.ts';
import type { PageQuery } from '../../store/pages.ts';

/** What a cursor of a page belongs to. */
type Walk = Pick<PageQuery, 'filter' | 'isDescending'>;

/** Returns the cursor of the page behind `after`. It depends on filters and order only, so it never expires. */
export function pageCursor(walk: Walk, after: OrderId): string {
  return encodeCursor([digestOf(walk), String(after)]);
}

/** Returns the id behind which the page of a cursor begins; undefined if it is not a cursor of this walk. */
export function parsePageCursor(cursor: string, walk: Walk): OrderId | undefined {
  const after = parseInt64(String(decodeCursor(cursor)?.[1]));
  return after !== undefined && pageCursor(walk, after) === cursor ? after : undefined;
}

function digestOf({ filter, isDescending }: Walk): string {
  const { statuses, petId, shipDateFrom, shipDateBefore } = filter;
  const parts = [statuses, petId, shipDateFrom, shipDateBefore, isDescending].map(String);
  return createHash('sha256').update(parts.join('|')).digest('base64url').slice(0, 12);
}
