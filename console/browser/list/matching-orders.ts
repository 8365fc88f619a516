import type { OrderRecord } from '@store-orders/client';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import { orderQuery } from './address.ts';

/** Orders per request. */
const PAGE = 500;

/**
 * Reads the orders that match the filters now, in the order of the list, page by page.
 * @param only ids of orders that were chosen: those in the list come first, in its order; all that match if undefined
 * @throws errors of the client library
 */
export async function* matchingOrders(
  { state }: Screen,
  session: Session,
  only?: readonly bigint[],
): AsyncGenerator<readonly OrderRecord[]> {
  const { signal } = session.ending;
  if (only === undefined) {
    const query = { ...orderQuery(state.view), limit: PAGE };
    for await (const { orders } of session.client.pages(query, { signal })) yield orders;
    return;
  }
  const left = new Set(only);
  const shown = state.orders.map(({ id }) => id).filter((id) => left.delete(id));
  const ids = [...shown, ...left];
  for (let from = 0; from < ids.length; from += PAGE) {
    const part = ids.slice(from, from + PAGE);
    const found = await session.client.findOrders({ ids: part }, { signal });
    const byId = new Map(found.map((order) => [order.id, order]));
    yield part.flatMap((id) => byId.get(id) ?? []);
  }
}
