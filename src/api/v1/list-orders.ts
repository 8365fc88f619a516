import type { Position } from '../../../protocol/history.ts';
import { matchingEtag } from '../../http/request/conditional.ts';
import { acceptsGzip } from '../../http/request/content-coding.ts';
import { inTime, timeLeft } from '../../http/request/deadline.ts';
import type { Exchange, Handle } from '../../http/request/exchange.ts';
import { sendHead, sendReply } from '../../http/request/reply.ts';
import type { GzipLists } from '../../listing/gzip.ts';
import type { Listing } from '../../listing/listing.ts';
import type { ListSender } from '../../listing/sender.ts';
import { type CodedEtags, storeEtags } from '../../records/etags.ts';

const HEADERS = ['vary', 'Accept-Encoding', 'cache-control', 'private, no-cache'] as const;

/** GET /store/orders: the live list, gzip-compressed if the client accepts it; 304 if If-None-Match matches. */
export function listOrders(listing: Listing, gzipLists: GzipLists, sender: ListSender): Handle {
  const etagsOf = latestEtags();
  return async (exchange: Exchange) => {
    const { request, response } = exchange;
    const snapshot = await inTime(exchange, () => listing.current());
    const etags = etagsOf(snapshot.position);
    const unchanged = matchingEtag(etags, request.headers['if-none-match']);
    if (unchanged !== undefined) {
      sendReply(exchange, { status: 304, headers: [...HEADERS, 'etag', unchanged] });
      return;
    }
    const compressed = acceptsGzip(request)
      ? await gzipLists.get(snapshot, timeLeft(exchange))
      : undefined;
    const list = compressed ?? snapshot;
    sendHead(exchange, 200, [
      ...HEADERS,
      ...['etag', compressed === undefined ? etags.identity : etags.gzip],
      ...['content-type', 'application/json'],
      ...['content-length', String(list.byteLength)],
      ...(compressed === undefined ? [] : ['content-encoding', 'gzip']),
    ]);
    if (request.method === 'HEAD') response.end();
    else sender.send(response, snapshot, list);
  };
}

/** Formats the ETags once for all requests of a position. */
function latestEtags(): (position: Position) => CodedEtags {
  let latest: { readonly position: Position; readonly etags: CodedEtags } | undefined;
  return (position) => {
    if (latest?.position !== position) latest = { position, etags: storeEtags(position) };
    return latest.etags;
  };
}
