import type { Contract } from '../../contract/contract.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import type { OrderId } from '../../orders/order.ts';
import { parseTimestamp } from '../../orders/timestamp.ts';
import type { Store } from '../../store/store.ts';
import type { Submit } from '../submit.ts';
import { changeOrder } from './change-order.ts';

/** The body, which may be left out. `shippedAt` in RFC 3339. */
type Shipment = { readonly shippedAt?: string } | undefined;

/** POST /store/orders/{orderId}/ship: the order, once the shipment is durable. */
export function shipOrder(contract: Contract, store: Store, submit: Submit): RouteHandler {
  return contract.validated<{ orderId: OrderId }, Shipment>(
    'shipOrder',
    (exchange, { parameters, body }) => {
      const at = body?.shippedAt === undefined ? undefined : parseTimestamp(body.shippedAt);
      const command = {
        type: 'ship',
        id: parameters.orderId,
        at,
        by: exchange.apiKey!.id,
      } as const;
      return changeOrder(exchange, { store, submit }, command);
    },
  );
}
