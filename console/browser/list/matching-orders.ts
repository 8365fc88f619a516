import type { OrderRecord } from '@store-orders/client';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import { orderQuery } from './address.ts';

/** Orders per request. */
const PAGE = 500;

/**
 * Reads the orders that match the filters now, in the order of the list, page by page.
 * @param only ids; all orders if undefined
 * @throws errors of the client library
 */
export async function* matchingOrders(
  { state }: Screen,
  { client, ending }: Session,
  only?: ReadonlySet<bigint>,
): AsyncGenerator<readonly OrderRecord[]> {
  // The selection can change meanwhile.
  const left = only && new Set(only);
  const query = { ...orderQuery(state.view), limit: PAGE };
  for await (const { orders } of client.pages(query, { signal: ending.signal })) {
    yield orders.filter(({ id }) => left?.delete(id) ?? true);
    if (left?.size === 0) return;
  }
}
