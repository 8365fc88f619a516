import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { IMPLIED_SCOPES, newApiKey, newSecret } from '../domain/api-key.ts';
import { MANAGES } from '../domain/key-management.ts';
import { byId } from '../domain/order.ts';
import { actionOf } from '../store/audit.ts';
import type { Store } from '../store/store.ts';
import type { Config } from './settings/config.ts';
import { urlHost } from './settings/parsers.ts';

/** Ids searched for a pending order, which the printed example cancels. */
const FIRST_IDS = Array.from({ length: 100 }, (_, index) => BigInt(index + 1));

/**
 * Creates and prints an API key if the store has none for this environment, so that the service can be tried, and others created with it. If it cannot be printed, for
 * example to a full disk, it is revoked.
 */
export async function printFirstKey(
  store: Store,
  { environment, rootPath, hasConsole }: Config,
  {
    listening,
    write,
    logger,
  }: {
    readonly listening: AddressInfo;
    readonly write: (text: string) => Promise<void>;
    readonly logger: Logger;
  },
): Promise<void> {
  const secret = newSecret(environment);
  const scopes = [...IMPLIED_SCOPES, MANAGES];
  const key = newApiKey(secret, { name: 'first key', environment, now: Date.now(), scopes });
  const action = actionOf('serve', `made the key ${key.id} "${key.name}"`);
  const [, outcome] = await store.apply([
    { type: 'audit', action },
    { type: 'createFirstKey', key },
  ]);
  if (outcome === 'unchanged') return;

  const { address, port } = listening;
  const origin = `http://${urlHost(address)}:${port}`;
  const orders = `${origin}${rootPath}/v1/store/orders`;
  const header = `-H "Authorization: Bearer ${secret}"`;
  const found = await store.orders(FIRST_IDS);
  const pending = found.toSorted(byId).find(({ status }) => status === 'pending');
  const pages = [...(hasConsole ? [`${origin}/console`] : []), `${origin}/reference`];
  const text = `
The store had no API key. This is its first key, which is shown only once:

  ${secret}

List all orders${pending === undefined ? ' (there are none yet)' : ', and cancel one'}:

  curl ${header} ${orders}
${pending === undefined ? '' : `  curl -i -X DELETE ${header} ${orders}/${pending.id}\n`}
Or in a browser:

${pages.map((url) => `  ${url}\n`).join('')}
`;
  try {
    await write(text);
  } catch (error) {
    const revoked = actionOf('serve', `revoked the key ${key.id}, which could not be written`);
    await store.apply([
      { type: 'audit', action: revoked },
      { type: 'revokeKey', id: key.id },
    ]);
    logger.error(
      { key: key.id, err: error },
      'the first key could not be written to stderr, and was revoked; create one with "keys create"',
    );
  }
}
