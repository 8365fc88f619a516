import type { Position } from '../../../protocol/history.ts';
import type { OrderId, OrderRecord } from '../../domain/order.ts';
import type { HeaderList } from '../../http/errors.ts';
import {
  type CodedEtags,
  codedEtags,
  matchesEtag,
  matchingEtag,
} from '../../http/request/conditional.ts';
import { acceptsGzip, gzipped } from '../../http/request/content-coding.ts';
import { timeLeft } from '../../http/request/deadline.ts';
import type { Exchange } from '../../http/request/exchange.ts';
import { send, sendEmpty } from '../../http/request/responses.ts';
import { etagName, orderEtag } from '../../records/etags.ts';
import { orderRecordJson } from '../../records/order-json.ts';

export const JSON_TYPE = ['content-type', 'application/json'] as const;
/** A proxy that compresses a response weakens its ETag, which If-Match then never matches. */
const REVALIDATED = ['cache-control', 'private, no-cache, no-transform'] as const;
export const NOT_STORED = ['cache-control', 'no-store, no-transform'] as const;

/**
 * Returns the ETags of a response that depends on nothing but the state of the store, and on where a page ends.
 * @param end the last id of a page that is not the last
 */
export function storeEtags(position: Position, end?: OrderId): CodedEtags {
  const state = etagName(position);
  return codedEtags(end === undefined ? state : `${state}-${end}`);
}

/** Sends the JSON of a read, or 304 if If-None-Match names its ETag. */
export function sendRead(
  exchange: Exchange,
  etag: string,
  json: () => string,
  headers: HeaderList = [],
): void {
  const validators = [...REVALIDATED, 'etag', etag, ...headers];
  if (matchesEtag(exchange.request.headers['if-none-match'], etag)) {
    sendEmpty(exchange, 304, validators);
  } else send(exchange, 200, [...validators, ...JSON_TYPE], Buffer.from(json()));
}

/**
 * Sends a page, compressed if the client accepts that and the page is large; or 304 if If-None-Match names one of its
 * ETags. Proxies that compress responses weaken their ETags; they do not compress what is already compressed.
 */
export async function sendPage(
  exchange: Exchange,
  etags: CodedEtags,
  json: () => string | Promise<string>,
  headers: HeaderList = [],
): Promise<void> {
  const { request } = exchange;
  const common = [...REVALIDATED, 'vary', 'Accept-Encoding', ...headers];
  const unchanged = matchingEtag(etags, request.headers['if-none-match']);
  if (unchanged !== undefined) {
    sendEmpty(exchange, 304, [...common, 'etag', unchanged]);
    return;
  }
  const page = Buffer.from(await json());
  const compressed = acceptsGzip(request) ? await gzipped(page, timeLeft(exchange)) : undefined;
  if (compressed === undefined) {
    send(exchange, 200, [...common, 'etag', etags.identity, ...JSON_TYPE], page);
  } else {
    const coding = ['etag', etags.gzip, 'content-encoding', 'gzip'];
    send(exchange, 200, [...common, ...coding, ...JSON_TYPE], compressed);
  }
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
