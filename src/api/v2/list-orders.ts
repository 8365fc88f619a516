import { positionText } from '../../../protocol/history.ts';
import type { Contract } from '../../http/contract/contract.ts';
import { inTime } from '../../http/request/deadline.ts';
import type { RouteHandler } from '../../http/request/exchange.ts';
import { sendError } from '../../http/request/responses.ts';
import { orderRecordJson } from '../../records/order-json.ts';
import { pageCursor, parsePageCursor } from '../../records/page-cursors.ts';
import type { OrderPage, PagePlace, PageQuery, Sort } from '../../store/pages.ts';
import type { Store } from '../../store/store.ts';
import { type FilterParameters, filterOf } from './filters.ts';
import { sendPage, storeEtags } from './responses.ts';

const DEFAULT_LIMIT = 100;

interface Parameters extends FilterParameters {
  readonly sort?: Sort;
  readonly order?: 'asc' | 'desc';
  readonly limit?: bigint;
  readonly cursor?: string;
}

/** GET /store/orders: a page of the orders that match all filters. */
export function listOrders(contract: Contract, store: Store): RouteHandler {
  return contract.validated<Parameters>('listOrders', async (exchange, { parameters }) => {
    const query = queryOf(parameters);
    if (query === undefined) {
      sendError(exchange, 'cursor_invalid');
      return;
    }
    const page = await inTime(exchange, () => store.page(query));
    const next = page.next === undefined ? undefined : pageCursor(query, page.next);
    const link = next === undefined ? [] : ['link', linkTo(next, parameters)];
    const etags = storeEtags(page.position, page.next?.id);
    await sendPage(exchange, etags, () => pageJson(page, next), link);
  });
}

/** Returns undefined if the cursor belongs to other filters. */
function queryOf({
  sort = 'id',
  order,
  limit,
  cursor,
  ...filters
}: Parameters): PageQuery | undefined {
  const walk = { filter: filterOf(filters), sort, isDescending: order === 'desc' };
  let after: PagePlace | undefined;
  if (cursor !== undefined) {
    after = parsePageCursor(cursor, walk);
    if (after === undefined) return undefined;
  }
  return { ...walk, after, limit: limit === undefined ? DEFAULT_LIMIT : Number(limit) };
}

/** RFC 8288, relative to the URL of the page. */
function linkTo(cursor: string, parameters: Parameters): string {
  const pairs = Object.entries({ ...parameters, cursor }).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  return `<?${pairs.join('&')}>; rel="next"`;
}

function pageJson({ orders, position }: OrderPage, next: string | undefined): string {
  const { revision, head } = position;
  const list = orders.map(orderRecordJson).join(',');
  const cursor = next === undefined ? '' : `"next":"${next}",`;
  return `{"orders":[${list}],${cursor}"revision":${revision},"head":"${head}","changes":"${positionText(position)}"}`;
}
