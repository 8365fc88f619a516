import { toJson } from '../../../../protocol/exact-json.ts';
import type { Contract } from '../../../http/contract/contract.ts';
import { inTime } from '../../../http/request/deadline.ts';
import type { RouteHandler } from '../../../http/request/exchange.ts';
import type { Store } from '../../../store/store.ts';
import { type FilterParameters, filterOf } from '../filters.ts';
import { sendPage, storeEtags } from '../responses.ts';

/** GET /store/counts: how many orders match all filters, by status. */
export function countOrders(contract: Contract, store: Store): RouteHandler {
  return contract.validated<FilterParameters>('countOrders', async (exchange, { parameters }) => {
    const counts = await inTime(exchange, () => store.count(filterOf(parameters)));
    const { orders, isExact, position } = counts;
    const json = () => toJson({ orders, isExact, ...position });
    await sendPage(exchange, storeEtags(position), json);
  });
}
