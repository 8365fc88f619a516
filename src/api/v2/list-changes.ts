import type { Contract } from '../../contract/contract.ts';
import { inTime } from '../../http/deadline.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { sendError } from '../../http/responses.ts';
import type { ChangePage } from '../../store/feed.ts';
import { feedCursor, parseFeedStart } from '../../store/feed-cursor.ts';
import type { Store } from '../../store/store.ts';
import { changesJson } from './records.ts';
import { sendPage, storeEtags } from './responses.ts';

const DEFAULT_LIMIT = 100;

interface Parameters {
  readonly after?: string;
  readonly limit?: bigint;
}

/** GET /store/changes: the next changes after a cursor. */
export function listChanges(contract: Contract, store: Store): RouteHandler {
  return contract.validated<Parameters>('listChanges', async (exchange, { parameters }) => {
    const after = parseFeedStart(parameters.after ?? 'start');
    if (after === undefined) {
      sendError(exchange, 'cursor_invalid');
      return;
    }
    const limit = Number(parameters.limit ?? DEFAULT_LIMIT);
    const page = await inTime(exchange, () => store.feed(after, limit));
    if (page === undefined) sendError(exchange, 'changes_gone');
    else await sendPage(exchange, storeEtags(page.now), () => pageJson(page));
  });
}

async function pageJson({ changes, position, isMore, now }: ChangePage): Promise<string> {
  const records = await changesJson(changes);
  return (
    `{"changes":[${records.join()}],"next":"${feedCursor(position)}","more":${isMore},` +
    `"revision":${now.revision},"head":"${now.head}"}`
  );
}
