import { parseTimestamp } from '../../domain/timestamp.ts';
import type { Contract } from '../../http/contract/contract.ts';
import type { RouteHandler } from '../../http/request/exchange.ts';
import type { Store } from '../../store/store.ts';
import type { SubmitMany } from '../submit.ts';
import { changeOrders, type OrdersToChange } from './change-in-bulk.ts';

/** `shippedAt` in RFC 3339; by default the current time. */
type Shipments = OrdersToChange & { readonly shippedAt?: string };

/** POST /store/shipments: ships several orders; the result of each. */
export function shipOrders(contract: Contract, store: Store, submit: SubmitMany): RouteHandler {
  return contract.validated<object, Shipments>('shipOrders', (exchange, { body }) => {
    const at = body.shippedAt === undefined ? undefined : parseTimestamp(body.shippedAt);
    const by = exchange.apiKey!.id;
    return changeOrders(exchange, { store, submit }, body, {
      changeOf: (id) => ({ type: 'ship', id, at, by }),
      content: `ship ${at}`,
    });
  });
}
