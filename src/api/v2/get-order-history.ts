import { toJson } from '../../../protocol/exact-json.ts';
import { isAllowed } from '../../domain/api-key.ts';
import type { OrderId } from '../../domain/order.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { Contract } from '../../http/contract/contract.ts';
import { inTime } from '../../http/request/deadline.ts';
import type { RouteHandler } from '../../http/request/exchange.ts';
import { sendError } from '../../http/request/responses.ts';
import { orderEtag } from '../../records/etags.ts';
import { type OrderEvent, orderWithHistory, type Store } from '../../store/store.ts';
import { sendRead } from './responses.ts';

/**
 * GET /store/orders/{orderId}/history: the events of an order, oldest first. Keys that may read changes, and with them the activity of
 * all keys, get the names of keys.
 */
export function getOrderHistory(contract: Contract, store: Store): RouteHandler {
  return contract.validated<{ orderId: OrderId }>(
    'getOrderHistory',
    async (exchange, { parameters: { orderId } }) => {
      const found = await inTime(exchange, () => orderWithHistory(store, orderId));
      if (found === undefined) {
        sendError(exchange, 'order_not_found');
        return;
      }
      const { order, events: known } = found;
      const hasNames = isAllowed(exchange.apiKey!, 'changes:read');
      const names = hasNames
        ? await inTime(exchange, () => store.keyNames(keysOf(known)))
        : NO_NAMES;
      const events = known.map(({ type, at, revision, by }) => {
        const name = by === undefined ? undefined : names.get(by);
        return { type, at: formatTimestamp(at), revision, by, name };
      });
      const json = () => toJson({ reference: order.reference, events });
      // Without the names of keys, the body has another tag: a strong ETag identifies one body.
      const etag = orderEtag(order, hasNames ? '-named' : '');
      sendRead(exchange, etag, json, ['vary', 'Authorization']);
    },
  );
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

function keysOf(events: readonly OrderEvent[]): string[] {
  return [...new Set(events.flatMap(({ by }) => by ?? []))];
}
