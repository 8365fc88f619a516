import { toJson } from '../../../../protocol/exact-json.ts';
import { isAllowed } from '../../../domain/api-key.ts';
import { formatTimestamp } from '../../../domain/timestamp.ts';
import { refuse } from '../../../http/request/reply.ts';
import { orderEtag } from '../../../records/etags.ts';
import { eventsCursor, parseEventsCursor } from '../../../records/page-cursors.ts';
import { orderWithHistory } from '../../../store/store.ts';
import { operation } from '../../operation.ts';
import { afterCursor, DEFAULT_LIMIT, readReply } from '../replies.ts';

/** GET /store/orders/{orderId}/history: a page of the events of an order, oldest first. Only keys that may read changes get the names of keys. */
export const getOrderHistory = operation('getOrderHistory', async (call, { store }) => {
  const { orderId, limit = DEFAULT_LIMIT, cursor } = call.parameters;
  const from = afterCursor(cursor, (text) => parseEventsCursor(text, orderId)) ?? 0;
  const found = await orderWithHistory(store, orderId);
  if (found === undefined) return refuse('order_not_found');
  const { order, events: all } = found;
  const to = from + Number(limit);
  const known = all.slice(from, to);
  const next = to < all.length ? eventsCursor(orderId, to) : undefined;
  const hasNames = isAllowed(call.key, 'changes:read');
  const keys = new Set(known.flatMap(({ by }) => by ?? []));
  const names = hasNames ? await store.keyNames([...keys]) : undefined;
  const { reason, trackingNumber } = order;
  const events = known.map(({ type, at, revision, by }, index) => {
    const byName = by === undefined ? undefined : names?.get(by);
    // An order that is not pending never changes again: its last event has them.
    const detail = from + index === all.length - 1 && { reason, trackingNumber };
    return { type, at: formatTimestamp(at), revision, ...detail, by, byName };
  });
  const json = () => toJson({ reference: order.reference, events, next });
  // Without the names of keys, the body has another tag: a strong ETag identifies one body.
  const etag = orderEtag(order, hasNames ? '-named' : '');
  return readReply(call, etag, json, ['vary', 'Authorization']);
});
