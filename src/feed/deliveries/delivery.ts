import { createHash } from 'node:crypto';
import { type Position, positionText } from '../../../protocol/history.ts';
import { changePageJson } from '../../records/order-json.ts';
import type { ChangePage } from '../../store/feed.ts';
import { VERSION } from '../../version.ts';
import { signatureOf } from './webhook-secrets.ts';

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
  const digest = createHash('sha256').update(`${series} ${from} ${to}`).digest('base64url');
  const json = await jsonOf(page);
  return { id: `msg_${digest.slice(0, 27)}`, body: `{"after":"${from}",${json.slice(1)}` };
}

/** Bytes of the cursor that a delivery has before a page. */
const AFTER_BYTES = 110;

/** Returns the size of the body of a delivery in bytes, or a few more. */
export async function deliveryBytes(page: ChangePage): Promise<number> {
  return Buffer.byteLength(await jsonOf(page)) + AFTER_BYTES;
}

/** Webhooks that keep up share their pages, so each is formatted once. */
const FORMATTED = new WeakMap<ChangePage, Promise<string>>();

function jsonOf(page: ChangePage): Promise<string> {
  const known = FORMATTED.get(page) ?? changePageJson(page);
  FORMATTED.set(page, known);
  return known;
}

/** Returns the headers of a delivery that is sent now, by Standard Webhooks. @param secrets the newest first */
export function headersOf({ id, body }: Delivery, secrets: readonly string[], now = Date.now()) {
  const timestamp = Math.floor(now / 1_000);
  return {
    'content-type': 'application/json',
    'user-agent': `store-orders/${VERSION}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf({ id, timestamp, body }, secrets),
  };
}
