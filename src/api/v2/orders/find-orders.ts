import type { Json } from '../../../../protocol/exact-json.ts';
import type { FoundOrders } from '../../../../protocol/generated/records.ts';
import { formatInTurns, orderRecordJson } from '../../../records/order-json.ts';
import { jsonReply, operation } from '../../operation.ts';
import { NOT_STORED } from '../replies.ts';

/** POST /store/orders/find: the orders with some ids or references. */
export const findOrders = operation(
  'findOrders',
  async ({ body: { ids = [], references = [] } }, { store }) => {
    // An order never changes its reference, and stays.
    const named = await store.idsOf([...new Set(references)]);
    const orders = await store.orders([...new Set([...ids, ...named])]);
    const list = (await formatInTurns(orders, orderRecordJson)).join();
    return jsonReply(200, NOT_STORED, `{"orders":[${list}]}` as Json<FoundOrders>);
  },
  { reads: 'page' },
);
