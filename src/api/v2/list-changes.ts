import { inTime } from '../../http/deadline.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { sendError, sendProblems } from '../../http/responses.ts';
import type { ChangeStreams } from '../../http/streams/change-streams.ts';
import { changesJson } from '../../orders/change.ts';
import type { ChangePage } from '../../store/feed.ts';
import { feedCursor, parseFeedStart } from '../../store/feed-cursor.ts';
import type { Store } from '../../store/store.ts';
import type { Contract } from '../contract.ts';
import { sendRead, storeEtag } from './responses.ts';
import { acceptsStream, streamChanges } from './stream-changes.ts';

const DEFAULT_LIMIT = 100;

interface Parameters {
  readonly after?: string;
  readonly limit?: bigint;
}

/** GET /store/changes: the next changes behind a cursor, or a stream of them. */
export function listChanges(
  contract: Contract,
  store: Store,
  streams: ChangeStreams,
): RouteHandler {
  return contract.validated<Parameters>('listChanges', async (exchange, { parameters }) => {
    const after = parseFeedStart(parameters.after ?? 'start');
    if (after === undefined) {
      sendError(exchange, 'cursor_invalid');
      return;
    }
    if (acceptsStream(exchange)) {
      if (parameters.limit !== undefined) {
        const detail = 'does not apply to a stream';
        sendProblems(exchange, 'parameter_invalid', [{ parameter: 'limit', detail }]);
        return;
      }
      await streamChanges(exchange, streams, after);
      return;
    }
    const limit = Number(parameters.limit ?? DEFAULT_LIMIT);
    const page = await inTime(exchange, () => store.feed(after, limit));
    if (page === undefined) sendError(exchange, 'changes_gone');
    else await sendRead(exchange, storeEtag(page.now), () => pageJson(page), ['vary', 'Accept']);
  });
}

async function pageJson({ changes, position, isMore, now }: ChangePage): Promise<string> {
  const records = await changesJson(changes);
  return (
    `{"changes":[${records.join()}],"next":"${feedCursor(position)}","more":${isMore},"store":"${now.storeId}",` +
    `"revision":${now.revision}}`
  );
}
