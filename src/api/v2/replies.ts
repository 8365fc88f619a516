import { type Json, toJson } from '../../../protocol/exact-json.ts';
import type { OrderRecord as Order } from '../../../protocol/generated/records.ts';
import type { OrderRecord } from '../../domain/order.ts';
import type { HeaderList } from '../../http/error-records.ts';
import { matchesEtag, matchingEtag } from '../../http/request/conditional.ts';
import { acceptsGzip, gzipped } from '../../http/request/content-coding.ts';
import { timeLeft } from '../../http/request/exchange.ts';
import { Refused, type Reply, refuse } from '../../http/request/reply.ts';
import { type CodedEtags, orderEtag } from '../../records/etags.ts';
import { orderRecordJson } from '../../records/order-json.ts';
import { type Call, JSON_TYPE, jsonReply } from '../operation.ts';

/** A proxy that compresses a response weakens its ETag, and If-Match never matches a weak ETag. */
const REVALIDATED = ['cache-control', 'private, no-cache, no-transform'] as const;
/** How many items a page has at most, if the request has no limit. */
export const DEFAULT_LIMIT = 100n;

/**
 * Returns what a page continues after; undefined for the first page.
 * @throws Refused if the cursor is not of this list
 */
export function afterCursor<Place>(
  cursor: string | undefined,
  parse: (cursor: string) => Place | undefined,
): Place | undefined {
  if (cursor === undefined) return undefined;
  const place = parse(cursor);
  if (place === undefined) throw new Refused(refuse('cursor_invalid'));
  return place;
}

export const NOT_STORED = ['cache-control', 'no-store, no-transform'] as const;

/** A record that no cache stores. @param tag of its state */
export function recordReply<T>(
  record: T,
  {
    status = 200,
    tag,
    headers = [],
  }: { status?: 200 | 201; tag?: string; headers?: HeaderList } = {},
): Reply<T> {
  const etag = tag === undefined ? [] : ['etag', `"${tag}"`];
  return jsonReply(status, [...NOT_STORED, ...etag, ...headers], toJson(record));
}

/** The request, on which a reply depends besides its content. */
type Asking = Pick<Call, 'request' | 'answerBy'>;

/** The JSON of a read, or 304 if If-None-Match names its ETag. */
export function readReply<T>(
  { request }: Asking,
  etag: string,
  json: () => Json<T>,
  headers: HeaderList = [],
): Reply<T> {
  const validators = [...REVALIDATED, 'etag', etag, ...headers];
  return matchesEtag(request.headers['if-none-match'], etag)
    ? { status: 304, headers: validators }
    : jsonReply(200, validators, json());
}

/**
 * A page, compressed if the client accepts that and the page is large; or 304 if If-None-Match names one of its ETags. Proxies that compress
 * responses weaken their ETags; they leave compressed ones alone.
 */
export async function pageReply<T>(
  call: Asking,
  etags: CodedEtags,
  json: () => Json<T> | Promise<Json<T>>,
  headers: HeaderList = [],
): Promise<Reply<T>> {
  const { request } = call;
  const common = [...REVALIDATED, 'vary', 'Accept-Encoding', ...headers];
  const unchanged = matchingEtag(etags, request.headers['if-none-match']);
  if (unchanged !== undefined) return { status: 304, headers: [...common, 'etag', unchanged] };
  const page = Buffer.from(await json());
  const compressed = acceptsGzip(request) ? await gzipped(page, timeLeft(call)) : undefined;
  if (compressed === undefined) {
    return { status: 200, headers: [...common, 'etag', etags.identity, ...JSON_TYPE], body: page };
  }
  const coding = ['etag', etags.gzip, 'content-encoding', 'gzip'];
  return { status: 200, headers: [...common, ...coding, ...JSON_TYPE], body: compressed };
}

export function changedReply(
  status: 200 | 201,
  order: OrderRecord,
  headers: HeaderList = [],
): Reply<Order> {
  const all = [...NOT_STORED, 'etag', orderEtag(order), ...headers];
  return jsonReply(status, all, orderRecordJson(order));
}
