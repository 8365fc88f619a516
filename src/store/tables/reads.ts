import type { History } from '../history.ts';
import type { Store } from '../store.ts';
import { readAudit, readOperators } from './audit.ts';
import { importProgress, readImports } from './imports.ts';
import { findKey, keyNames, readKeyPage, readKeys } from './keys.ts';
import { readLosses } from './losses.ts';
import { orderEvents } from './orders.ts';
import { findPet } from './pets.ts';
import type { Session } from './session.ts';
import { readRevisionAt, readStatus } from './store-row.ts';
import { countWebhooks, readWebhooks } from './webhooks.ts';

/** How an engine reads: with a session of its own, and its errors as those of a store. */
type Read = <T>(use: (session: Session) => Promise<T>) => Promise<T>;

/**
 * Returns the reads for requests that are the same on both engines.
 * @param served refuses a store that was moved or migrated: for reads whose own statement has no guard
 */
export function readsOf(read: Read, served: Read) {
  return {
    events: (id) => read((session) => orderEvents(session, id)),
    webhooks: (id) => served((session) => readWebhooks(session, id)),
    pet: (id) => served((session) => findPet(session, id)),
    keys: (digests) =>
      (digests === undefined ? read : served)((session) => readKeys(session, digests)),
    key: (id) => served((session) => findKey(session, id)),
    keyPage: (query) => read((session) => readKeyPage(session, query)),
    webhookCounts: (keyIds) => read((session) => countWebhooks(session, keyIds)),
    keyNames: (ids) => read((session) => keyNames(session, ids)),
    status: (options) => (options?.evenIfMoved ? read : served)(readStatus),
  } satisfies Partial<Store>;
}

/** Returns the reads for commands, which are the same on both engines but for `scan`. */
export function historyOf(read: Read, scan: History['scan']): History {
  return {
    scan,
    revisionAt: (time) => read((session) => readRevisionAt(session, time)),
    imports: () => read(readImports),
    importProgress: (source) => read((session) => importProgress(session, source)),
    losses: () => read(readLosses),
    audit: (limit) => read((session) => readAudit(session, limit)),
    operators: (revisions) => read((session) => readOperators(session, revisions)),
  };
}
