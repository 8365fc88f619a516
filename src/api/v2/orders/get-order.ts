import { refuse } from '../../../http/request/reply.ts';
import { orderEtag } from '../../../records/etags.ts';
import { orderRecordJson } from '../../../records/order-json.ts';
import { operation } from '../../operation.ts';
import { readReply } from '../replies.ts';

/** GET /store/orders/{orderId}: an order in any status. */
export const getOrder = operation('getOrder', async (call, { store }) => {
  const [order] = await store.orders([call.parameters.orderId]);
  if (order === undefined) return refuse('order_not_found');
  return readReply(call, orderEtag(order), () => orderRecordJson(order));
});
