import type { OrderEventType } from '../../domain/lifecycle.ts';
import type { Contract } from '../../http/contract/contract.ts';
import { inTime } from '../../http/request/deadline.ts';
import type { RouteHandler } from '../../http/request/exchange.ts';
import { sendError } from '../../http/request/responses.ts';
import { changePageJson } from '../../records/order-json.ts';
import { type FeedFilter, filteredPage, parseFeedStart } from '../../store/feed.ts';
import type { Store } from '../../store/store.ts';
import { sendPage, storeEtags } from './responses.ts';

const DEFAULT_LIMIT = 100;

interface Parameters extends FilterParameters {
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
    const filter = feedFilterOf(parameters);
    const page = await inTime(exchange, () =>
      filter === undefined
        ? store.feed(after, limit)
        : filteredPage(store.feed, after, { filter, limit }),
    );
    if (page === undefined) sendError(exchange, 'changes_gone');
    else await sendPage(exchange, storeEtags(page.now), () => changePageJson(page));
  });
}

/** Which changes a client wants: parameters of listChanges and streamChanges. */
export interface FilterParameters {
  readonly petId?: bigint;
  readonly type?: readonly OrderEventType[];
  readonly by?: string;
}

/** Returns undefined if all changes are wanted. */
export function feedFilterOf({ petId, type: types, by }: FilterParameters): FeedFilter | undefined {
  if (petId === undefined && types === undefined && by === undefined) return undefined;
  return { petIds: petId === undefined ? undefined : [petId], types, by };
}
