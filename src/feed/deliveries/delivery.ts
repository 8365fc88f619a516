import { hash } from 'node:crypto';
import { type Position, positionText } from '../../../protocol/history.ts';
import type { Webhook } from '../../domain/webhook.ts';
import { kept } from '../../http/request/content-coding.ts';
import { changePageJson } from '../../records/order-json.ts';
import { type ChangePage, filteredPage } from '../../store/feed.ts';
import { VERSION } from '../../version.ts';
import type { ReadFeed } from '../follow.ts';
import { signatureOf } from './webhook-key.ts';

/** A page of changes that is sent to an endpoint. */
interface Delivery {
  /** Repetitions have the same id, so that receivers recognize them. */
  readonly id: string;
  readonly body: string;
}

/**
 * Returns the delivery of a page: the body of listChanges, and `after`, the cursor that it continues from.
 * @param series part of the id: the same changes in another series are another delivery
 */
export async function deliveryOf(
  series: string,
  after: Position,
  page: ChangePage,
): Promise<Delivery> {
  const [from, to] = [positionText(after), positionText(page.position)];
  const digest = hash('sha256', `${series} ${from} ${to}`, 'base64url');
  const json = await jsonOf(page);
  return { id: `msg_${digest.slice(0, 27)}`, body: `{"after":"${from}",${json.slice(1)}` };
}

/** Bytes of the cursor that a delivery has before a page. */
const AFTER_BYTES = 110;

/** Returns the size of the body of a delivery in bytes, or a few more. */
async function deliveryBytes(page: ChangePage): Promise<number> {
  return Buffer.byteLength(await jsonOf(page)) + AFTER_BYTES;
}

/** Webhooks that keep up share their pages, so each is formatted once. */
const FORMATTED = new WeakMap<ChangePage, Promise<string>>();

function jsonOf(page: ChangePage): Promise<string> {
  return kept(FORMATTED, page, changePageJson);
}

/** Returns the headers of a delivery that is sent now, by Standard Webhooks. @param secrets the newest first */
export function headersOf({ id, body }: Delivery, secrets: readonly string[]) {
  const timestamp = Math.floor(Date.now() / 1_000);
  return {
    'content-type': 'application/json',
    'user-agent': `store-orders/${VERSION}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf({ id, timestamp, body }, secrets),
  };
}

/** Maximum number of changes in a delivery, unless a single revision has more. */
const CHANGES_PER_DELIVERY = 100;

/** Maximum size of a delivery in bytes, unless a single revision is larger: common body parsers accept 100 kB. */
const DELIVERY_BYTES = 65_536;

/**
 * Reads the next page of changes for a webhook, or the same page again if its delivery has begun. The webhook wants no change up to the position
 * of a page without changes.
 * @returns undefined if the position of the webhook is no longer valid: the store was restored or lost changes
 */
export async function nextPage(
  read: ReadFeed,
  webhook: Pick<Webhook, 'position' | 'examined' | 'sendingTo' | 'types' | 'petIds'>,
): Promise<ChangePage | undefined> {
  const { sendingTo: end, types, petIds } = webhook;
  const from = readsFrom(webhook);
  const readUpTo = (limit: number) =>
    types === undefined && petIds === undefined
      ? read(from, limit)
      : filteredPage(read, from, { filter: { types, petIds }, limit });
  let page = await readUpTo(CHANGES_PER_DELIVERY);
  // A page cannot get smaller than its first revision, which is all of a page with more changes than asked for.
  if (end === undefined && page !== undefined && page.changes.length <= CHANGES_PER_DELIVERY) {
    for (let limit = halfOf(page); limit > 0 && (await deliveryBytes(page)) > DELIVERY_BYTES; ) {
      const smaller = await readUpTo(limit);
      if (smaller === undefined || smaller.changes.length >= page.changes.length) break;
      page = smaller;
      limit = halfOf(page);
    }
  }
  if (page === undefined || end === undefined) return page;
  // A failover can have lost the end, with the changes up to it.
  const isKnown = (await read(end, 1)) !== undefined;
  return isKnown && page.position.revision >= end.revision ? upTo(end, page) : page;
}

function halfOf(page: ChangePage): number {
  return Math.floor(page.changes.length / 2);
}

/** Returns where the next page begins to be read. */
export function readsFrom({
  position,
  examined,
}: Pick<Webhook, 'position' | 'examined'>): Position {
  return examined ?? position;
}

/** Cuts off the changes after `end`, where the page ended when it was first sent. */
function upTo(end: Position, page: ChangePage): ChangePage {
  return {
    ...page,
    changes: page.changes.filter(({ order }) => order.revision <= end.revision),
    position: end,
    isMore: end.revision < page.now.revision,
  };
}
