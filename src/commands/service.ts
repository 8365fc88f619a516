import type { AddressInfo } from 'node:net';
import type { Registry } from '@prometheus-io/client';
import type { Config } from '../config.ts';
import { within } from '../http/deadline.ts';
import type { RequestLog } from '../http/logging.ts';
import { createMetrics } from '../http/metrics.ts';
import { buildServer } from '../http/server.ts';
import { Listing } from '../orders/listing.ts';
import { openStore } from '../store/open.ts';
import type { OpenOptions, Store } from '../store/store.ts';
import { environmentOf, expectEnvironment, expectNotMoved } from './database.ts';
import { watchStore } from './watch-store.ts';

/** How long a probe of readiness waits for the store. */
const READY_WITHIN_MS = 1_000;

/** The service in one process: a store, its list in memory, and the public listener. */
export interface Service {
  readonly store: Store;
  readonly registry: Registry;
  /** Begins to serve, when the list is in memory. */
  readonly listen: () => Promise<AddressInfo>;
  /** Whether requests should be sent here now: the store is there, and nothing has to be read anew. */
  readonly isReady: () => Promise<boolean>;
  /** Ends what is under way, and then all of it. */
  readonly close: () => Promise<void>;
}

/** @param create whether a database that is not there is made */
export async function openService(
  config: Config,
  log: RequestLog,
  { create }: Pick<OpenOptions, 'create'>,
): Promise<Service> {
  const store = await openStore(config.databaseUrl, {
    create,
    purpose: 'service',
    onMigrated: (from, to) =>
      log.logger.info({ from, to }, 'the schema of the database was migrated'),
  });
  await claimStore(store, config);
  const metrics = createMetrics(store, config.environment);
  const listing = new Listing(store, (changed) =>
    metrics.listRefreshes.inc({ changed: changed > 0 ? 'yes' : 'no' }),
  );
  const server = buildServer({ config, store, listing, metrics, log });
  let isServing = false;
  let unwatch = () => {};
  return {
    store,
    registry: metrics.registry,
    listen: async () => {
      const address = await server.listen(config);
      unwatch = watchStore(listing, log.logger);
      isServing = true;
      return address;
    },
    isReady: async () => {
      if (!isServing) return false;
      return within(READY_WITHIN_MS, () => listing.current()).then(
        () => true,
        () => false,
      );
    },
    close: async () => {
      isServing = false;
      unwatch();
      await server.close();
      await store.close();
    },
  };
}

/**
 * Makes sure that the store was not moved away, and is for the environment of the service, so that no key of another
 * one opens it.
 * @throws StoreNotUsable when it is not so; the store is closed then
 */
export async function claimStore(
  store: Store,
  { databaseUrl, environment }: Pick<Config, 'databaseUrl' | 'environment'>,
): Promise<void> {
  try {
    expectNotMoved(databaseUrl, (await store.status()).movedTo);
    expectEnvironment(databaseUrl, await environmentOf(store, environment), environment);
  } catch (error) {
    await store.close();
    throw error;
  }
}
