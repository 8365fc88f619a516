import { AuthenticationError, type Key, StoreOrders } from '@store-orders/client';
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

/** @throws AuthenticationError; TypeError for a key with characters that no key has; errors of the connection */
export async function signIn(apiKey: string, root: string): Promise<Session> {
  const client = new StoreOrders({ baseUrl: root, apiKey });
  const key = await client.getKey();
  const can = (scope: string) => key.scopes.includes(scope);
  if (can('orders:read')) compareClocks((await client.getStore()).time);
  sessionStorage.setItem(STORED, apiKey);
  const may = {
    read: can('orders:read'),
    place: can('orders:place'),
    cancel: can('orders:cancel'),
    ship: can('orders:ship'),
    follow: can('changes:read'),
    webhooks: can('webhooks:manage'),
  };
  return { client, key, may, ending: new AbortController() };
}

export function forgetKey(): void {
  sessionStorage.removeItem(STORED);
}

/** Whether an error means that the key has been revoked or has expired. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof AuthenticationError;
}
