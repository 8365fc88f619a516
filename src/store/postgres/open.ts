import { ConcurrencyLimit } from '../../concurrency/limit.ts';
import { COUNTS_WAITING, MAX_COUNTS_AT_ONCE } from '../activity.ts';
import type { OutcomeOf, StoreCommand } from '../commands.ts';
import { expectNothingMissing, schemaDifferences } from '../expected-schema.ts';
import { mayMigrate, type OpenOptions } from '../open-options.ts';
import { MAX_PAGES_AT_ONCE } from '../pages.ts';
import { type Store, StoreNotUsable, tooManyReads } from '../store.ts';
import { readAudit, readOperators } from '../tables/audit.ts';
import { HEADS_NOT_COMPUTED, hasHeads, headsProgress } from '../tables/heads.ts';
import { readImports } from '../tables/imports.ts';
import { keyNames, readKeys } from '../tables/keys.ts';
import { findPet } from '../tables/pets.ts';
import { readCounters, readRevisionAt, readStatus } from '../tables/store-row.ts';
import { readWebhookLags, readWebhooks } from '../tables/webhooks.ts';
import { countActivity } from './activity.ts';
import { Changes } from './changes.ts';
import { isPostgresUrl, parseAddress } from './database/address.ts';
import { describeSchema } from './database/catalog.ts';
import { Connection, newSession } from './database/connection.ts';
import { completeHeads } from './database/heads.ts';
import { Origin } from './database/origin.ts';
import { expectOwnBackendBehindProxy } from './database/own-backend.ts';
import { hasSchema, KNOWN_MIGRATIONS, migrate, withMigrationLock } from './database/schema.ts';
import type { Session } from './database/session.ts';
import {
  BULK,
  COMMAND,
  MIGRATIONS,
  SERVICE,
  SERVICE_WRITES,
  type TimeLimits,
} from './database/time-limits.ts';
import { readFeed, readPosition } from './feed.ts';
import { findOrders, orderHistory } from './orders.ts';
import { countOrders, readPage, readRecord, readRecords } from './pages.ts';
import { scanOrders } from './scan.ts';
import { readSizes } from './sizes.ts';
import { Writer } from './writer.ts';

/**
 * Opens the engine for several nodes: four connections, each reestablished when it is lost.
 * @throws StoreUnavailable, StoreNotUsable
 */
export async function openPostgres(url: string, options: OpenOptions): Promise<Store> {
  const currentUrl = () => {
    const now = options.currentUrl?.() ?? url;
    return isPostgresUrl(now) ? now : url;
  };
  await prepareSchema(currentUrl(), options);
  const isService = options.purpose === 'service';
  const limits = isService ? SERVICE : COMMAND;
  const origin = new Origin();
  const connect = (own: TimeLimits = limits, prepare = async (_: Session) => {}) =>
    new Connection(() => parseAddress(currentUrl()), own, {
      welcome: async (session, openAnother) => {
        await expectOwnBackendBehindProxy(session, openAnother);
        await origin.confirm(session);
        await prepare(session);
      },
      onConnection: options.onConnection,
    });
  // Pages and feeds have their own connection, since they would delay other reads.
  const [reading, paging, changes] = [connect(), connect(), new Changes(connect())];
  const reads = new ConcurrencyLimit(MAX_PAGES_AT_ONCE, tooManyReads);
  const counts = new ConcurrencyLimit(MAX_COUNTS_AT_ONCE, tooManyReads, COUNTS_WAITING);
  const writing = connect(isService ? SERVICE_WRITES : COMMAND, (each) => origin.confirmIds(each));
  const writer = new Writer(writing, (id) => origin.gave(id));
  /** For reads without a guard in their own statement, which is sent after the guard, without waiting for it. */
  const served = async <T>(read: (session: Session) => Promise<T>): Promise<T> => {
    const session = await reading.session();
    const [, found] = await Promise.all([readPosition(session), read(session)]);
    return found;
  };
  let closing: Promise<unknown> | undefined;
  return {
    engine: { name: 'postgresql', schema: KNOWN_MIGRATIONS },
    apply: <C extends StoreCommand>(commands: readonly C[]) =>
      writer.apply(commands) as Promise<OutcomeOf<C>[]>,
    changes: (since, visit) => changes.read(since, visit),
    find: async (ids) => findOrders(await reading.session(), ids),
    record: async (id, options) => readRecord(await reading.session(), id, options),
    records: async (ids) => readRecords(await reading.session(), ids),
    page: (query) => reads.run(async () => readPage(await paging.session(), query)),
    count: (filter) => counts.run(async () => countOrders(await paging.session(), filter)),
    feed: (after, limit) => reads.run(async () => readFeed(await paging.session(), after, limit)),
    activity: (query) => counts.run(async () => countActivity(await paging.session(), query)),
    history: async (id) => orderHistory(await reading.session(), id),
    scan: (visit, range) => scanOrders(currentUrl(), visit, range),
    revisionAt: async (time) => readRevisionAt(await reading.session(), time),
    audit: async (limit) => readAudit(await reading.session(), limit),
    operators: async (revisions) => readOperators(await reading.session(), revisions),
    imports: async () => readImports(await reading.session()),
    webhooks: () => served(readWebhooks),
    webhookLags: async (revisions) => readWebhookLags(await reading.session(), revisions),
    pet: (id) => served((session) => findPet(session, id)),
    keys: async (digests) =>
      digests === undefined
        ? readKeys(await reading.session())
        : served((session) => readKeys(session, digests)),
    keyNames: async (ids) => keyNames(await reading.session(), ids),
    counters: () => served(readCounters),
    status: async () => readStatus(await reading.session()),
    sizes: async () => readSizes(await reading.session()),
    connected: () => connectAll([reading, paging, writing]),
    close: async () => {
      closing ??= Promise.all([changes.close(), writer.close(), reading.close(), paging.close()]);
      await closing;
    },
  };
}

async function connectAll(connections: readonly Connection[]): Promise<void> {
  await Promise.all(connections.map((each) => each.session()));
}

/** Migrates the schema, or checks that it is current, depending on the purpose. */
async function prepareSchema(
  url: string,
  { create, purpose, onMigrated, onWaiting = () => {} }: OpenOptions,
): Promise<void> {
  const observe = () => newSession(url, COMMAND);
  const session = await newSession(url, MIGRATIONS, async (each) => {
    const update = mayMigrate(purpose);
    const migrated = await migrate(each, {
      create,
      update,
      observe,
      onWaiting,
    });
    if (migrated !== undefined) onMigrated?.(migrated.from, migrated.to);
    if (mayMigrate(purpose)) {
      expectNothingMissing(schemaDifferences('postgresql', await describeSchema(each)));
    }
    await readStatus(each);
    if (purpose === 'read' || (await hasHeads(each))) return;
    if (!update) throw new StoreNotUsable(HEADS_NOT_COMPUTED);
    await withMigrationLock(each, { onWaiting }, async () => {
      // Asked again: another node may have computed them while this one waited.
      if (await hasHeads(each)) return;
      await completeHeads(each, () => newSession(url, BULK), headsProgress(onWaiting));
    });
  });
  await session.end();
}

/**
 * Returns whether there is a store at `url`.
 * @throws StoreUnavailable, StoreNotUsable
 */
export async function postgresStoreExists(url: string): Promise<boolean> {
  const session = await newSession(url, COMMAND);
  try {
    return await hasSchema(session);
  } finally {
    session.destroy();
  }
}
