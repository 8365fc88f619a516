import { toJson } from '../../../protocol/exact-json.ts';
import { isAllowed } from '../../domain/api-key.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { refuse } from '../../http/request/reply.ts';
import { orderEtag } from '../../records/etags.ts';
import { type OrderEvent, orderWithHistory } from '../../store/store.ts';
import { operation } from '../operation.ts';
import { readReply } from './replies.ts';

/** GET /store/orders/{orderId}/history: the events of an order, oldest first. Only keys that may read changes get the names of keys. */
export const getOrderHistory = operation('getOrderHistory', async (call, { store }) => {
  const found = await orderWithHistory(store, call.parameters.orderId);
  if (found === undefined) return refuse('order_not_found');
  const { order, events: known } = found;
  const hasNames = isAllowed(call.key, 'changes:read');
  const names = hasNames ? await store.keyNames(keysOf(known)) : NO_NAMES;
  const { reason, trackingNumber } = order;
  const events = known.map(({ type, at, revision, by }, index) => {
    const byName = by === undefined ? undefined : names.get(by);
    // An order that is not pending never changes again: its last event has them.
    const detail = index === known.length - 1 && { reason, trackingNumber };
    return { type, at: formatTimestamp(at), revision, ...detail, by, byName };
  });
  const json = () => toJson({ reference: order.reference, events });
  // Without the names of keys, the body has another tag: a strong ETag identifies one body.
  const etag = orderEtag(order, hasNames ? '-named' : '');
  return readReply(call, etag, json, ['vary', 'Authorization']);
});

const NO_NAMES: ReadonlyMap<string, string> = new Map();

function keysOf(events: readonly OrderEvent[]): string[] {
  return [...new Set(events.flatMap(({ by }) => by ?? []))];
}
