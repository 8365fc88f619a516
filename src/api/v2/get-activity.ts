import { toJson } from '../../../protocol/exact-json.ts';
import { formatTimestamp, LATEST, parseBound } from '../../domain/timestamp.ts';
import { invalid, refuse } from '../../http/request/reply.ts';
import { storeEtags } from '../../records/etags.ts';
import { activityCursor, parseActivityCursor } from '../../records/page-cursors.ts';
import type { ActivityPage, ActivityQuery } from '../../store/activity.ts';
import { operation } from '../operation.ts';
import { afterCursor, pageReply } from './replies.ts';

/** GET /store/activity: how many orders were placed, cancelled and shipped in each period. */
export const getActivity = operation(
  'getActivity',
  async (call, { store }) => {
    const { cursor, by } = call.parameters;
    const boundaries = call.parameters.boundaries.map((text) =>
      Math.min(parseBound(text)!, LATEST),
    );
    if (boundaries.some((each, index) => index > 0 && each <= boundaries[index - 1]!)) {
      const detail = 'must be in ascending order, a millisecond apart at least';
      return invalid('parameter_invalid', [{ parameter: 'boundaries', detail }]);
    }
    const counted = { boundaries, by };
    const after = afterCursor(cursor, (text) => parseActivityCursor(text, counted));
    const page = await store.activity({ ...counted, after });
    if (page === undefined) return refuse('changes_gone');
    return pageReply(call, storeEtags(page.now), () => pageJson(page, counted));
  },
  { reads: 'count' },
);

function pageJson(page: ActivityPage, counted: ActivityQuery) {
  const { periods, byKey, next, upTo } = page;
  const { boundaries } = counted;
  const timeOf = (index: number) => formatTimestamp(boundaries[index]!);
  return toJson({
    periods: periods.map((counts, index) => ({
      from: timeOf(index),
      before: timeOf(index + 1),
      ...counts,
    })),
    byKey,
    ...(next !== undefined && { next: activityCursor(next, counted) }),
    revision: upTo.revision,
    head: upTo.head,
  });
}
