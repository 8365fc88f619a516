import type { Json } from '../../../../protocol/exact-json.ts';
import type { Operations } from '../../../../protocol/generated/operations.ts';
import type { OrderPage as PageRecord } from '../../../../protocol/generated/records.ts';
import { positionText } from '../../../../protocol/history.ts';
import { invalid } from '../../../http/request/reply.ts';
import { storeEtags } from '../../../records/etags.ts';
import { formatInTurns, orderRecordJson } from '../../../records/order-json.ts';
import { pageCursor, parsePageCursor } from '../../../records/page-cursors.ts';
import type { OrderPage } from '../../../store/pages.ts';
import { operation } from '../../operation.ts';
import { afterCursor, DEFAULT_LIMIT, pageReply } from '../replies.ts';
import { filterOf } from './filters.ts';

type Parameters = Operations['listOrders']['parameters'];

/** GET /store/orders: a page of the orders that match all filters. */
export const listOrders = operation(
  'listOrders',
  async (call, { store }) => {
    const detail = problemOfSort(call.parameters);
    if (detail !== undefined) return invalid('parameter_invalid', [{ parameter: 'sort', detail }]);
    const query = queryOf(call.parameters);
    const page = await store.page(query);
    const next = page.next === undefined ? undefined : pageCursor(query, page.next);
    const link = next === undefined ? [] : ['link', linkTo(next, call.parameters)];
    const etags = storeEtags(page.position, page.next?.id);
    return pageReply(call, etags, () => pageJson(page, next), link);
  },
  { reads: 'page' },
);

function problemOfSort({ sort = 'id', referencePrefix, referenceContains }: Parameters) {
  // A page ends after a number of examined orders: by id, these are the newest ones.
  if (sort !== 'id' && referenceContains !== undefined) return 'must be id with referenceContains';
  // Orders need not have a reference.
  if (sort === 'reference' && referencePrefix === undefined)
    return 'reference is only for referencePrefix';
  return undefined;
}

/** @throws Refused if the cursor belongs to other filters */
function queryOf({ sort, direction, limit = DEFAULT_LIMIT, cursor, ...filters }: Parameters) {
  const filter = filterOf(filters);
  const isPart = filter.referenceContains !== undefined;
  const byDefault = filter.referencePrefix === undefined || isPart ? 'id' : 'reference';
  const isDescending = (direction ?? (isPart ? 'desc' : 'asc')) === 'desc';
  const walk = { filter, sort: sort ?? byDefault, isDescending };
  const after = afterCursor(cursor, (text) => parsePageCursor(text, walk));
  return { ...walk, after, limit: Number(limit) };
}

/** RFC 8288, relative to the URL of the page. */
function linkTo(cursor: string, parameters: Parameters): string {
  const pairs = Object.entries({ ...parameters, cursor }).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
  );
  return `<?${pairs.join('&')}>; rel="next"`;
}

async function pageJson(
  { orders, position }: OrderPage,
  next: string | undefined,
): Promise<Json<PageRecord>> {
  const { revision, head } = position;
  const list = (await formatInTurns(orders, orderRecordJson)).join(',');
  const cursor = next === undefined ? '' : `"next":"${next}",`;
  const changes = positionText(position);
  const rest = `"revision":${revision},"head":"${head}","changesAfter":"${changes}"`;
  return `{"orders":[${list}],${cursor}${rest}}` as Json<PageRecord>;
}
