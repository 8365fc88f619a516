import { type Key, type OrderQuery, StoreOrders } from '@store-orders/client';
import { compareClocks } from './clock.ts';

/** A valid key with its scopes. */
export interface Session {
  readonly client: StoreOrders;
  readonly key: Key;
  readonly may: Readonly<
    Record<'read' | 'place' | 'cancel' | 'ship' | 'follow' | 'webhooks' | 'keys', boolean>
  >;
  /** Aborted when the session ends; ends its requests. */
  readonly ending: AbortController;
}

/** Returns the key in a text that was pasted: without blanks, and without what precedes it in a header. */
export function keyIn(text: string): string {
  return text
    .replace(/^\s*(?:authorization\s*:)?\s*bearer\s+/i, '')
    .replaceAll(/[\s\u200b-\u200d\ufeff]/g, '')
    .replaceAll(/^["']|["']$/g, '');
}

/**
 * Signs in with one round trip: the requests are sent together, those that the key may not make in vain.
 * @param query of the list that is shown first
 * @param ending of the session, also before it has begun
 * @returns the session, and the first page of its list
 * @throws AuthenticationError; TypeError for a key with characters that no key has; errors of the connection; what `ending` has
 */
export async function signIn(
  { apiKey, root }: { readonly apiKey: string; readonly root: string },
  query: OrderQuery,
  ending: AbortController,
) {
  const client = new StoreOrders({ baseUrl: root, apiKey });
  const options = { signal: ending.signal };
  const firstPage = client.listOrders(query, options);
  // It is handled where the list is shown.
  firstPage.catch(() => {});
  const store = client.getStore(options).catch(() => undefined);
  try {
    const key = await client.getKey(options);
    const can = (scope: string) => key.scopes.includes(scope);
    const time = can('orders:read') ? (await store)?.time : undefined;
    // Signed out, perhaps with another key after that.
    ending.signal.throwIfAborted();
    if (time !== undefined) compareClocks(time);
    const may = {
      read: can('orders:read'),
      place: can('orders:place'),
      cancel: can('orders:cancel'),
      ship: can('orders:ship'),
      follow: can('changes:read'),
      webhooks: can('webhooks:manage'),
      keys: can('keys:manage'),
    };
    const session: Session = { client, key, may, ending };
    return { session, firstPage };
  } catch (error) {
    ending.abort();
    throw error;
  }
}
