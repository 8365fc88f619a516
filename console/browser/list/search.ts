import { NotFoundError } from '@store-orders/client';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import { totalOf } from './view.ts';

/** How long a search waits to find out what is meant; then it goes on without knowing. */
const LIMIT_MS = 1_500;

/** Ends with the session, or after the limit. */
const limitOf = (session: Session) =>
  AbortSignal.any([session.ending.signal, AbortSignal.timeout(LIMIT_MS)]);

/**
 * Returns the reference that a text means: the text with the blanks around it, if an order has them in its reference, or else
 * without, since blanks are pasted along.
 */
export async function writtenReference(screen: Screen, text: string): Promise<string> {
  const trimmed = text.trim();
  if (trimmed === text) return text;
  return (await hasReference(screen, text)) ? text : trimmed;
}

/** Returns whether a number is the reference of an order, and the id of none. */
export async function isOnlyReference(screen: Screen, id: bigint, text: string): Promise<boolean> {
  const { session, orders } = screen.state;
  if (session === undefined || orders.some((each) => each.id === id)) return false;
  try {
    await session.client.getOrder(id, { signal: limitOf(session) });
    return false;
  } catch (error) {
    return error instanceof NotFoundError && hasReference(screen, text.trim());
  }
}

/** False if that could not be read: the search then goes on without it. */
async function hasReference(screen: Screen, reference: string): Promise<boolean> {
  const { session } = screen.state;
  if (session === undefined) return false;
  try {
    const { orders } = await session.client.countOrders(
      { reference },
      { signal: limitOf(session) },
    );
    return totalOf(orders) > 0n;
  } catch {
    return false;
  }
}
