import type { OrderId } from '../../domain/order.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';
import type { Contract } from '../../http/contract/contract.ts';
import type { RouteHandler } from '../../http/request/exchange.ts';
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
