import { toJson } from '../../../../protocol/exact-json.ts';
import { parseTimestamp } from '../../../domain/timestamp.ts';
import type { Contract } from '../../../http/contract/contract.ts';
import { inTime } from '../../../http/request/deadline.ts';
import type { RouteHandler } from '../../../http/request/exchange.ts';
import { sendError, sendProblems } from '../../../http/request/responses.ts';
import { activityCursor, parseActivityCursor } from '../../../records/page-cursors.ts';
import type { ActivityPage, ActivityQuery } from '../../../store/activity.ts';
import type { Store } from '../../../store/store.ts';
import { sendPage, storeEtags } from '../responses.ts';

interface Parameters {
  /** RFC 3339. */
  readonly boundaries: readonly string[];
  readonly cursor?: string;
}

/** GET /store/activity: how many orders were placed, cancelled and shipped in some periods. */
export function getActivity(contract: Contract, store: Store): RouteHandler {
  return contract.validated<Parameters>('getActivity', async (exchange, { parameters }) => {
    const boundaries = parameters.boundaries.map((text) => parseTimestamp(text)!);
    if (boundaries.some((each, index) => index > 0 && each <= boundaries[index - 1]!)) {
      const detail = 'must be in ascending order';
      sendProblems(exchange, 'parameter_invalid', [{ parameter: 'boundaries', detail }]);
      return;
    }
    const after =
      parameters.cursor === undefined
        ? undefined
        : parseActivityCursor(parameters.cursor, boundaries);
    if (parameters.cursor !== undefined && after === undefined) {
      sendError(exchange, 'cursor_invalid');
      return;
    }
    const page = await inTime(exchange, () => store.activity({ boundaries, after }));
    if (page === undefined) sendError(exchange, 'changes_gone');
    else await sendPage(exchange, storeEtags(page.now), () => pageJson(page, boundaries));
  });
}

type Boundaries = ActivityQuery['boundaries'];

function pageJson(page: ActivityPage, boundaries: Boundaries): string {
  const { periods, cancels, next, upTo } = page;
  const timeOf = (index: number) => new Date(boundaries[index]!).toISOString();
  return toJson({
    periods: periods.map((counts, index) => ({
      from: timeOf(index),
      before: timeOf(index + 1),
      ...counts,
    })),
    cancels,
    ...(next !== undefined && { next: activityCursor(next, boundaries) }),
    revision: upTo.revision,
    head: upTo.head,
  });
}
