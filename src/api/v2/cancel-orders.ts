import type { Contract } from '../../http/contract/contract.ts';
import type { RouteHandler } from '../../http/request/exchange.ts';
import type { Store } from '../../store/store.ts';
import { cancelCommand } from '../cancel-limit.ts';
import type { SubmitMany } from '../submit.ts';
import { changeOrders, type OrdersToChange } from './change-in-bulk.ts';

/** POST /store/cancellations: cancels several orders; the result of each. */
export function cancelOrders(contract: Contract, store: Store, submit: SubmitMany): RouteHandler {
  return contract.validated<object, OrdersToChange>('cancelOrders', (exchange, { body }) =>
    changeOrders(exchange, { store, submit }, body, {
      changeOf: (id) => cancelCommand(exchange.apiKey!, id),
      content: 'cancel',
    }),
  );
}
