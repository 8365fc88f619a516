import type { Position } from '../../../protocol/history.ts';
import { TimedOut } from '../../concurrency.ts';
import { matchingEtag } from '../../http/request/conditional.ts';
import { acceptsGzip } from '../../http/request/content-coding.ts';
import { type Exchange, type Handle, inTime, timeLeft } from '../../http/request/exchange.ts';
import { Refused, refuseNotRead, sendHead, sendReply } from '../../http/request/reply.ts';
import type { GzipLists } from '../../listing/gzip.ts';
import type { FirstRead, Listing, Snapshot } from '../../listing/listing.ts';
import type { ListSender } from '../../listing/sender.ts';
import { type CodedEtags, storeEtags } from '../../records/etags.ts';

const HEADERS = ['vary', 'Accept-Encoding', 'cache-control', 'private, no-cache'] as const;

/** Most seconds in Retry-After: the rest of a read can take less time than its beginning. */
const MAX_RETRY_AFTER_S = 60;

/**
 * A request is refused at once if the first read of the list will take more than this many times the time of the request; otherwise it waits.
 * The estimate is a multiple of the truth at first, while the code is not yet compiled.
 */
const HOPELESS = 4;

/**
 * GET /store/orders: the live list, gzip-compressed if the client accepts it; 304 if If-None-Match matches. While the list is read for the first
 * time, 503 with the progress, unless the read ends within the time of the request.
 */
export function listOrders(listing: Listing, gzipLists: GzipLists, sender: ListSender): Handle {
  const etagsOf = latestEtags();
  return async (exchange: Exchange) => {
    const { request, response } = exchange;
    const { msLeft = 0 } = listing.firstRead ?? {};
    if (msLeft > HOPELESS * timeLeft(exchange)) throw notRead(listing.firstRead!);
    let snapshot: Snapshot;
    try {
      snapshot = await inTime(exchange, () => listing.current());
    } catch (error) {
      const isReading = error instanceof TimedOut && listing.firstRead !== undefined;
      throw isReading ? notRead(listing.firstRead) : error;
    }
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

function notRead({ read, total, msLeft = 0 }: FirstRead): Refused {
  const progress = `${read.toLocaleString('en')} of ${total.toLocaleString('en')} orders have been read.`;
  const seconds = Math.ceil(msLeft / 1_000);
  return new Refused(refuseNotRead(progress, Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_S)));
}

/** Formats the ETags once for all requests of a position. */
function latestEtags(): (position: Position) => CodedEtags {
  let latest: { readonly position: Position; readonly etags: CodedEtags } | undefined;
  return (position) => {
    if (latest?.position !== position) latest = { position, etags: storeEtags(position) };
    return latest.etags;
  };
}
