import type { Operations } from '../../../protocol/generated/operations.ts';
import { parseBound } from '../../domain/timestamp.ts';
import { invalid, refuse } from '../../http/request/reply.ts';
import { storeEtags } from '../../records/etags.ts';
import { changePageJson } from '../../records/order-json.ts';
import { type FeedFilter, filteredPage, parseFeedStart } from '../../store/feed.ts';
import { operation } from '../operation.ts';
import { DEFAULT_LIMIT, pageReply } from './replies.ts';

/** GET /store/changes: the next changes after a cursor. */
export const listChanges = operation(
  'listChanges',
  async (call, { store }) => {
    const { parameters } = call;
    const since = parameters.since === undefined ? undefined : parseBound(parameters.since);
    if (since !== undefined && parameters.after !== undefined) {
      const problem = { parameter: 'since', detail: 'is not for a request with after' };
      return invalid('parameter_invalid', [problem]);
    }
    const after =
      since === undefined
        ? parseFeedStart(parameters.after ?? 'start')
        : await store.positionBefore(since);
    if (after === undefined) return refuse('cursor_invalid');
    const limit = Number(parameters.limit ?? DEFAULT_LIMIT);
    const filter = feedFilterOf(parameters);
    const page = await (filter === undefined
      ? store.feed(after, limit)
      : filteredPage(store.feed, after, { filter, limit }));
    if (page === undefined) return refuse('changes_gone');
    return pageReply(call, storeEtags(page.now), () => changePageJson(page));
  },
  { reads: 'page' },
);

/** Returns undefined if all changes are wanted. */
export function feedFilterOf({
  petId,
  type: types,
  by,
}: Operations['streamChanges']['parameters']): FeedFilter | undefined {
  if (petId === undefined && types === undefined && by === undefined) return undefined;
  return { petIds: petId === undefined ? undefined : [petId], types, by };
}
