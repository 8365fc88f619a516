import { NotFoundError, type OrderRecord, type StoreOrders } from '@store-orders/client';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import { isShown, orderQuery } from './address.ts';

/** Orders per request. */
const PAGE = 500;
/** Up to this many selected orders of the list are read one by one, as are those that are not in the list. */
const MAX_SINGLE = 1_000;
/** Requests for single orders at once: a browser has six connections to a host, of which the stream of changes has one. */
export const AT_ONCE = 4;

/**
 * Reads the orders that match the filters now, in the order of the list, page by page.
 * @param only orders that were pending when they were selected; all orders if undefined
 * @throws errors of the client library
 */
export async function* matchingOrders(
  { state }: Screen,
  session: Session,
  only?: ReadonlyMap<bigint, OrderRecord>,
): AsyncGenerator<readonly OrderRecord[]> {
  const { view, orders: shownOrders } = state;
  const { signal } = session.ending;
  const query = { ...orderQuery(view), limit: PAGE };
  if (only === undefined) {
    for await (const { orders } of session.client.pages(query, { signal })) yield orders;
    return;
  }
  const left = new Set(only.keys());
  const inList = new Set(
    [...only.values()].filter((each) => isShown(each, view)).map(({ id }) => id),
  );
  if (inList.size > MAX_SINGLE) {
    const pending = { ...query, status: 'pending' } as const;
    for await (const { orders } of session.client.pages(pending, { signal })) {
      yield orders.filter(({ id }) => inList.delete(id) && left.delete(id));
      if (inList.size === 0) break;
    }
  }
  // Those that are shown come first, in their order.
  const shown = shownOrders.map(({ id }) => id).filter((id) => left.delete(id));
  const ids = [...shown, ...left];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    yield await readOrders(session.client, ids.slice(from, from + AT_ONCE), signal);
  }
}

/** Reads orders that exist; others are left out. @throws errors of the client library */
export async function readOrders(
  client: StoreOrders,
  ids: readonly bigint[],
  signal: AbortSignal,
): Promise<OrderRecord[]> {
  const found = await Promise.all(
    ids.map((id) =>
      client.getOrder(id, { signal }).catch((error) => {
        if (error instanceof NotFoundError) return undefined;
        throw error;
      }),
    ),
  );
  return found.filter((order) => order !== undefined);
}
