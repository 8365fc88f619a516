import { NotFoundError } from '@store-orders/client';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import { totalOf, type View } from './address.ts';

/** How long a search waits for the lookups below; then it continues without them. */
const LIMIT_MS = 1_500;

/** Ends with the session, or after the limit. */
const limitOf = (session: Session) =>
  AbortSignal.any([session.ending.signal, AbortSignal.timeout(LIMIT_MS)]);

/**
 * Returns the reference that a text means: with the blanks around it if an order has such a reference, otherwise without, since blanks are often
 * pasted along.
 */
export async function writtenReference(screen: Screen, text: string): Promise<string> {
  const trimmed = text.trim();
  if (trimmed === text) return text;
  return (await hasReference(screen, text)) ? text : trimmed;
}

/**
 * Returns the view of the orders that a text means: those with this reference, if there are any, otherwise those whose references begin with it.
 * @param view without filters of references
 */
export async function viewOfReference(screen: Screen, view: View, text: string): Promise<View> {
  const reference = await writtenReference(screen, text);
  const isWhole = await hasReference(screen, reference);
  return isWhole ? { ...view, reference } : { ...view, prefix: text.trim() };
}

/** Returns whether a number is the reference of an order, and not an id. */
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

/** Returns false if the lookup failed. */
async function hasReference(screen: Screen, reference: string): Promise<boolean> {
  const { session } = screen.state;
  if (session === undefined) return false;
  try {
    const { counts } = await session.client.countOrders(
      { reference },
      { signal: limitOf(session) },
    );
    return totalOf(counts) > 0n;
  } catch {
    return false;
  }
}
