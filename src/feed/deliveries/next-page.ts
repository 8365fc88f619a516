import type { Position } from '../../../protocol/history.ts';
import type { DeliveryState, WebhookFilter } from '../../domain/webhook.ts';
import { type ChangePage, filteredPage } from '../../store/feed.ts';
import type { ReadFeed } from '../follow.ts';
import { sizeOf } from './delivery.ts';

/** How many changes a delivery has, unless a single revision has more. */
const CHANGES_PER_DELIVERY = 100;

/**
 * The size of a delivery, in bytes, unless a single revision has more: the usual body parsers accept 100 kB.
 */
const DELIVERY_BYTES = 65_536;

/**
 * Reads the page of changes that a webhook is sent next: the same page again if one is being sent. A page without changes means that none
 * is wanted up to its position.
 * @returns undefined if the position of the webhook is no longer valid: the store was restored or lost changes
 */
export async function nextPage(
  read: ReadFeed,
  webhook: Pick<DeliveryState, 'position' | 'examined' | 'sendingTo'> & WebhookFilter,
): Promise<ChangePage | undefined> {
  const { sendingTo: end, events: types, petIds } = webhook;
  const from = readsFrom(webhook);
  const readUpTo = (limit: number) =>
    types === undefined && petIds === undefined
      ? read(from, limit)
      : filteredPage(read, from, { filter: { types, petIds }, limit });
  let page = await readUpTo(CHANGES_PER_DELIVERY);
  if (end === undefined) {
    // One with fewer changes than the limit before is no smaller if its first revision alone has more.
    for (let limit = halfOf(page); limit > 0 && (await sizeOf(page!)) > DELIVERY_BYTES; ) {
      const smaller = await readUpTo(limit);
      if (smaller === undefined || smaller.changes.length >= page!.changes.length) break;
      page = smaller;
      limit = halfOf(page);
    }
  }
  if (page === undefined || end === undefined) return page;
  // A failover can have lost the end, and what was delivered up to it.
  const isKnown = (await read(end, 1)) !== undefined;
  return isKnown && page.position.revision >= end.revision ? upTo(end, page) : page;
}

function halfOf(page: ChangePage | undefined): number {
  return page === undefined ? 0 : Math.floor(page.changes.length / 2);
}

/** Returns where the next page begins to be read. */
export function readsFrom({
  position,
  examined,
}: Pick<DeliveryState, 'position' | 'examined'>): Position {
  return examined ?? position;
}

/** Cuts off what was added since a page with the same beginning was read, which had ended at `end`. */
function upTo(end: Position, page: ChangePage): ChangePage {
  return {
    ...page,
    changes: page.changes.filter(({ order }) => order.revision <= end.revision),
    position: end,
    isMore: end.revision < page.now.revision,
  };
}
