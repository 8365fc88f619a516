import {
  AuthenticationError,
  type Key,
  type OrderPage,
  type OrderQuery,
  StoreOrders,
} from '@store-orders/client';
import { compareClocks } from './clock.ts';

/** A valid key with its scopes. */
export interface Session {
  readonly client: StoreOrders;
  readonly key: Key;
  readonly may: Readonly<
    Record<'read' | 'place' | 'cancel' | 'ship' | 'follow' | 'webhooks', boolean>
  >;
  /** Aborted when the session ends; ends its requests. */
  readonly ending: AbortController;
}

/** The key in this tab's storage. Other tabs of the console can ask for it while one is open; closing the last one forgets it. */
const STORED = 'store-orders-key';
/** How long another tab has to answer. */
const ASK_MS = 200;

type Message =
  | { readonly type: 'asked' }
  | { readonly type: 'key'; readonly key: string }
  | { readonly type: 'signed-out' };

/** The other tabs of the console in this browser. */
export class OtherTabs {
  readonly #channel = new BroadcastChannel('store-orders');
  #onKey: ((key: string) => void) | undefined;

  /** @param onSignedOut called when another tab was signed out */
  constructor(onSignedOut: () => void) {
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      const key = sessionStorage.getItem(STORED);
      if (data.type === 'asked' && key !== null) this.#send({ type: 'key', key });
      if (data.type === 'key') this.#onKey?.(data.key);
      if (data.type === 'signed-out' && key !== null) onSignedOut();
    });
  }

  /** Returns the key of this tab, or of another one that is open; undefined if none is signed in. */
  async key(): Promise<string | undefined> {
    const own = sessionStorage.getItem(STORED);
    if (own !== null) return own;
    return new Promise((resolve) => {
      this.#onKey = resolve;
      setTimeout(() => resolve(undefined), ASK_MS);
      this.#send({ type: 'asked' });
    });
  }

  signOut(): void {
    this.#send({ type: 'signed-out' });
  }

  #send(message: Message): void {
    this.#channel.postMessage(message);
  }
}

/** Returns the key in a text that was pasted: without blanks, and without what precedes it in a header. */
export function keyIn(text: string): string {
  return text
    .replace(/^\s*(?:authorization\s*:)?\s*bearer\s+/i, '')
    .replaceAll(/[\s\u200b-\u200d\ufeff]/g, '')
    .replaceAll(/^["']|["']$/g, '');
}

/** A new session, and the first page of its list, which is asked for together with the key. */
export interface SignedIn {
  readonly session: Session;
  readonly firstPage: Promise<OrderPage>;
}

/**
 * Signs in with one round trip: the requests are sent together, those that the key may not make in vain.
 * @param query of the list that is shown first
 * @param ending of the session, also before it has begun
 * @throws AuthenticationError; TypeError for a key with characters that no key has; errors of the connection; what `ending` has
 */
export async function signIn(
  { apiKey, root }: { readonly apiKey: string; readonly root: string },
  query: OrderQuery,
  ending: AbortController,
): Promise<SignedIn> {
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
    // Signed out meanwhile, perhaps with another key after that.
    ending.signal.throwIfAborted();
    if (time !== undefined) compareClocks(time);
    sessionStorage.setItem(STORED, apiKey);
    const may = {
      read: can('orders:read'),
      place: can('orders:place'),
      cancel: can('orders:cancel'),
      ship: can('orders:ship'),
      follow: can('changes:read'),
      webhooks: can('webhooks:manage'),
    };
    return { session: { client, key, may, ending }, firstPage };
  } catch (error) {
    ending.abort();
    throw error;
  }
}

export function forgetKey(): void {
  sessionStorage.removeItem(STORED);
}

/** Whether an error means that the key has been revoked or has expired. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof AuthenticationError;
}
