import {
  AuthenticationError,
  ConnectionError,
  ForbiddenError,
  StoreOrders,
} from '@store-orders/client';

/** A valid key, and what it may do. */
export interface Session {
  readonly client: StoreOrders;
  readonly may: Readonly<Record<'read' | 'cancel' | 'ship' | 'follow', boolean>>;
  /** Aborted when the session ends, and with it what is under way. */
  readonly ending: AbortController;
}

/** For this tab only; forgotten when it is closed. */
const STORED = 'store-orders-key';
const PROBE_MS = 10_000;

export const storedKey = (): string | null => sessionStorage.getItem(STORED);

/** @throws AuthenticationError, TypeError for a key with characters that no key has, or what prevents asking */
export async function signIn(apiKey: string, root: string): Promise<Session> {
  const client = new StoreOrders({ baseUrl: root, apiKey });
  const [read, cancel, ship, follow] = await Promise.all([
    permitted(() => client.getSummary()),
    permittedChange(root, apiKey, 'cancel'),
    permittedChange(root, apiKey, 'ship'),
    permitted(() => client.listChanges({ after: 'now', limit: 1 })),
  ]);
  sessionStorage.setItem(STORED, apiKey);
  return { client, may: { read, cancel, ship, follow }, ending: new AbortController() };
}

export function signOut(): void {
  sessionStorage.removeItem(STORED);
}

async function permitted(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (error instanceof ForbiddenError) return false;
    throw error;
  }
}

/** The scope is checked before the id, and "-" is the id of no order: such a request changes nothing. */
async function permittedChange(root: string, key: string, action: string): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_MS);
  const headers = { authorization: `Bearer ${key}` };
  const url = `${root}/v2/store/orders/-/${action}`;
  const response = await fetch(url, { method: 'POST', headers, signal }).catch((cause) => {
    throw new ConnectionError('the service cannot be reached', { cause });
  });
  if (response.status === 403) return false;
  // The summary tells what else may be wrong with the key.
  if (response.status === 404 || response.status === 401) return true;
  throw new ConnectionError(`a response with the status ${response.status}`);
}

/** Whether the key has been revoked or has expired meanwhile. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof AuthenticationError;
}
