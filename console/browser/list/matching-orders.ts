import { NotFoundError, type OrderRecord } from '@store-orders/client';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import { orderQuery } from './address.ts';

/** Orders per request. */
const PAGE = 500;
/** Up to this many selected orders are read one by one: they can be anywhere in the store. */
const MAX_SINGLE = 1_000;
/** Requests at once: a browser has six connections to a host, of which the stream of changes has one. */
const AT_ONCE = 4;

/**
 * Reads the orders that match the filters now, in the order of the list, page by page.
 * @param only ids; all orders if undefined
 * @throws errors of the client library
 */
export async function* matchingOrders(
  { state }: Screen,
  session: Session,
  only?: readonly bigint[],
): AsyncGenerator<readonly OrderRecord[]> {
  const left = new Set(only);
  if (only === undefined || only.length > MAX_SINGLE) {
    const query = { ...orderQuery(state.view), limit: PAGE };
    const { signal } = session.ending;
    for await (const { orders } of session.client.pages(query, { signal })) {
      yield only === undefined ? orders : orders.filter(({ id }) => left.delete(id));
      if (only !== undefined && left.size === 0) return;
    }
  }
  // Of many selected orders, what remains was selected by a list. Those that are shown come first, in their order.
  const shown = state.orders.map(({ id }) => id).filter((id) => left.delete(id));
  const ids = [...shown, ...left];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    yield await readOrders(session, ids.slice(from, from + AT_ONCE));
  }
}

/** Reads orders that exist; others are left out. */
async function readOrders({ client, ending }: Session, ids: readonly bigint[]) {
  const found = await Promise.all(
    ids.map((id) =>
      client.getOrder(id, { signal: ending.signal }).catch((error) => {
        if (error instanceof NotFoundError) return undefined;
        throw error;
      }),
    ),
  );
  return found.filter((order) => order !== undefined);
}
