import Negotiator from 'negotiator';
import { headerCount } from '../../http/connection/well-formed.ts';
import type { Exchange } from '../../http/exchange.ts';
import { sendError, sendProblems } from '../../http/responses.ts';
import type { ChangeStreams } from '../../http/streams/change-streams.ts';
import type { FeedStart } from '../../store/feed.ts';
import { parseFeedCursor } from '../../store/feed-cursor.ts';

/** Returns whether a client prefers a stream to a page. */
export function acceptsStream({ request }: Exchange): boolean {
  const type = new Negotiator(request).mediaType(['application/json', 'text/event-stream']);
  return type === 'text/event-stream';
}

/**
 * GET /store/changes with Accept: text/event-stream: the changes behind a cursor, as they happen.
 * @param after from the query; Last-Event-ID, which a client sends when it resumes, takes its place
 */
export async function streamChanges(
  exchange: Exchange,
  streams: ChangeStreams,
  after: FeedStart,
): Promise<void> {
  const { request } = exchange;
  const lastEventId = request.headers['last-event-id'];
  if (headerCount(request, 'last-event-id') > 1) {
    const detail = 'must be sent once';
    sendProblems(exchange, 'parameter_invalid', [{ parameter: 'Last-Event-ID', detail }]);
    return;
  }
  const resumed =
    lastEventId === undefined || lastEventId === '' ? after : parseFeedCursor(String(lastEventId));
  if (resumed === undefined) sendError(exchange, 'cursor_invalid');
  else await streams.open(exchange, resumed);
}
