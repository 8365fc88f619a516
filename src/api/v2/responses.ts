import { matchesEtag } from '../../http/conditional.ts';
import type { HeaderList } from '../../http/errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import { send, sendEmpty } from '../../http/responses.ts';
import { type OrderId, type OrderRecord, orderRecordJson } from '../../orders/order.ts';
import type { FeedPosition } from '../../store/feed.ts';

const JSON_TYPE = ['content-type', 'application/json'] as const;
const REVALIDATED = ['cache-control', 'private, no-cache'] as const;
const NOT_STORED = ['cache-control', 'no-store'] as const;

/** Identifies a state of an order, also over restores of the store. One revision can place an order and change it. */
export function orderEtag({ revision, updatedAt, status }: OrderRecord): string {
  return `"${revision}-${updatedAt.toString(36)}-${status}"`;
}

/**
 * Identifies a state of the store, for responses that depend on nothing else, or on where a page ends.
 * @param end the last id of a page that is not the last
 */
export function storeEtag({ storeId, revision, last }: FeedPosition, end?: OrderId): string {
  const state = `${storeId}-${revision}-${(last?.at ?? 0).toString(36)}`;
  return end === undefined ? `"${state}"` : `"${state}-${end}"`;
}

/** Sends the JSON of a read, or 304 if If-None-Match names its ETag. */
export async function sendRead(
  exchange: Exchange,
  etag: string,
  json: () => string | Promise<string>,
  headers: HeaderList = [],
): Promise<void> {
  const validators = [...REVALIDATED, 'etag', etag, ...headers];
  if (matchesEtag(exchange.request.headers['if-none-match'], etag)) {
    sendEmpty(exchange, 304, validators);
  } else send(exchange, 200, [...validators, ...JSON_TYPE], Buffer.from(await json()));
}

/** Sends an order after it was changed. */
export function sendChanged(
  exchange: Exchange,
  status: 200 | 201,
  order: OrderRecord,
  headers: HeaderList = [],
): void {
  const all = [...NOT_STORED, 'etag', orderEtag(order), ...headers, ...JSON_TYPE];
  send(exchange, status, all, Buffer.from(orderRecordJson(order)));
}
