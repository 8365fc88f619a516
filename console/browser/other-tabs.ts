/** The key in this tab's storage. Other tabs of the console can ask for it while one is open; closing the last one forgets it. */
const STORED = 'store-orders-key';
/** How long another tab has to answer; the browser may have to start the relay first. */
const ASK_MS = 400;

type Message =
  | { readonly type: 'asked' }
  | { readonly type: 'key'; readonly key: string }
  | { readonly type: 'signed-out' };

/**
 * The other tabs of the console in this browser, reached by console/relay.js. Without service workers, as in some private windows and over plain HTTP,
 * there are none: each tab asks for a key.
 */
export class OtherTabs {
  readonly #relay: string;
  #onKey: ((key: string) => void) | undefined;

  /** @param root the part of the service's URLs before /v2 @param onSignedOut called when another tab was signed out */
  constructor(root: string, onSignedOut: () => void) {
    this.#relay = `${root}/console/relay.js`;
    const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
    workers?.addEventListener('message', ({ data, source }: MessageEvent<Message>) => {
      // Another worker of this origin can send messages, too.
      const sender = (source as ServiceWorker | null)?.scriptURL ?? '';
      if (sender !== new URL(this.#relay, location.href).href) return;
      const key = sessionStorage.getItem(STORED);
      if (data.type === 'asked' && key !== null) void this.#send({ type: 'key', key });
      if (data.type === 'key') this.#onKey?.(data.key);
      if (data.type === 'signed-out' && key !== null) onSignedOut();
    });
    workers?.startMessages();
  }

  /** Returns the key of this tab, or of another one that is open; undefined if none is signed in. */
  async key(): Promise<string | undefined> {
    const own = sessionStorage.getItem(STORED);
    if (own !== null) return own;
    if (!(await this.#send({ type: 'asked' }))) return undefined;
    return new Promise((resolve) => {
      this.#onKey = resolve;
      setTimeout(() => resolve(undefined), ASK_MS);
    });
  }

  /** Keeps the key in this tab, for itself and for others that ask. */
  keep(key: string): void {
    sessionStorage.setItem(STORED, key);
    const relay = policy?.createScriptURL(this.#relay) ?? this.#relay;
    navigator.serviceWorker?.register(relay as string).catch(() => {});
  }

  forget(): void {
    sessionStorage.removeItem(STORED);
  }

  /** Signs the other tabs out. */
  signOut(): void {
    void this.#send({ type: 'signed-out' });
  }

  /** @returns false if there is no relay, and so no other tab */
  async #send(message: Message): Promise<boolean> {
    const registered = await navigator.serviceWorker
      ?.getRegistration(this.#relay)
      .catch(() => undefined);
    registered?.active?.postMessage(message);
    return registered?.active != null;
  }
}

interface Policy {
  createScriptURL(text: string): unknown;
}

const { trustedTypes } = globalThis as {
  trustedTypes?: { createPolicy(name: string, rules: Policy): Policy };
};
/** The page requires Trusted Types for the addresses of scripts. */
const policy = trustedTypes?.createPolicy('relay', { createScriptURL: (text) => text });
