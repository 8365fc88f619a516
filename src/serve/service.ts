import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Registry } from '@prometheus-io/client';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { PublicServer } from '../http/server.ts';
import { KeyClock } from '../keys/key-clock.ts';
import { Listing } from '../listing/listing.ts';
import { environmentOf, expectEnvironment, expectNotMoved } from '../store/claim.ts';
import { openStore } from '../store/open.ts';
import { mayPass, type Store, StoreUnavailable } from '../store/store.ts';
import { within } from '../store/within.ts';
import { rounded } from '../telemetry/logger.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { buildPublicListener } from './public-listener.ts';
import { watchClock } from './watch-clock.ts';
import { watchStore } from './watch-store.ts';

/** How long a probe of readiness waits for the store. */
const READY_WITHIN_MS = 1_000;
/** A load balancer that was told within this time that the service is ready has to be told of a stop. */
const SAID_WITHIN_MS = 60_000;
/** Between two attempts to reach the database at a start. */
const RETRY_MS = 500;

/** The service in one process: a store, its list in memory, and the public listener. */
export class Service {
  readonly #config: Config;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #clock = new KeyClock();
  #store: Promise<Store> | undefined;
  #openStore: Store | undefined;
  #server: PublicServer | undefined;
  #listing: Listing | undefined;
  #isClosing = false;
  /** On the clock of performance.now(). */
  #saidReadyAt = Number.NEGATIVE_INFINITY;
  #whyNotServing = 'starting';
  /** End what was begun, last first. */
  readonly #endings: (() => void)[] = [];

  constructor(config: Config, logger: Logger) {
    this.#config = config;
    this.#logger = logger;
    this.#metrics = createMetrics({
      environment: config.environment,
      store: () => this.#openStore,
      isReady: async () => (await this.whyNotReady()) === undefined,
    });
  }

  get registry(): Registry {
    return this.#metrics.registry;
  }

  /**
   * Opens the store; a database that cannot be reached is waited for.
   * @param onMade is called when the database was not there, and was made
   * @throws StoreNotUsable
   */
  async open(onMade: () => void): Promise<Store> {
    const logger = this.#logger;
    this.#store = this.#untilAvailable(() => openForService(this.#config, logger, onMade));
    const store = await this.#store;
    this.#expectNotStopped();
    this.#openStore = store;
    this.#whyNotServing = 'starting: the list is being read';
    const { revision, orders, latestAt } = await store.status();
    if (latestAt !== undefined) this.#clock.notBefore(latestAt);
    this.#endings.push(watchClock(this.#clock, logger));
    const { name: engine, schema } = store.engine;
    logger.info({ engine, schema, ...texts({ revision, ...orders }) }, 'opened the store');
    return store;
  }

  /** Begins to serve, when the list is in memory. */
  async listen(): Promise<AddressInfo> {
    const [config, logger, metrics] = [this.#config, this.#logger, this.#metrics];
    const store = this.#openStore!;
    const listing = new Listing(store, (changed, ms) => {
      metrics.listRefreshes.inc({ changed: changed > 0 ? 'yes' : 'no' });
      if (changed === 0) return;
      logger.debug({ changed, ms: rounded(ms) }, 'updated the list');
    });
    this.#listing = listing;
    await this.#untilAvailable(() => listing.current());
    this.#expectNotStopped();
    this.#server = buildPublicListener({
      config,
      store,
      listing,
      metrics,
      logger,
      clock: this.#clock,
    });
    const address = await this.#server.listen(config);
    this.#endings.push(watchStore(listing, logger, (fault) => metrics.countFault(fault)));
    if (!this.#isClosing) this.#whyNotServing = '';
    return address;
  }

  /** @throws StoreUnavailable when the service was told to stop while it was starting */
  #expectNotStopped(): void {
    if (this.#isClosing) throw new StoreUnavailable('the service is stopping', 'unreachable');
  }

  /** What `ask` gives; asks again, once a while, of a store that may be available again. */
  async #untilAvailable<T>(ask: () => Promise<T>): Promise<T> {
    for (let isWaiting = false; ; isWaiting = true) {
      try {
        return await ask();
      } catch (error) {
        if (this.#isClosing || !mayPass(error)) throw error;
        if (!isWaiting) this.#logger.warn({ err: error }, 'waiting for the database');
        this.#whyNotServing = `waiting for the database: ${(error as Error).message}`;
        await pause(RETRY_MS);
      }
    }
  }

  /** Why requests should not be sent here now; undefined if they should. */
  async whyNotReady(): Promise<string | undefined> {
    if (this.#whyNotServing !== '') return this.#whyNotServing;
    return within(READY_WITHIN_MS, () => this.#listing!.current()).then(
      () => undefined,
      (error: Error) => error.message,
    );
  }

  /** The same for a load balancer, which is given time to hear of a stop. */
  async answerReadiness(): Promise<string | undefined> {
    const reason = await this.whyNotReady();
    if (reason === undefined) this.#saidReadyAt = performance.now();
    return reason;
  }

  /**
   * Not ready from now on; resolves after `ms`, or at once if no load balancer was told lately that it is ready. Requests
   * are still served meanwhile.
   */
  async drain(ms: number): Promise<void> {
    this.#whyNotServing = 'stopping';
    if (performance.now() - this.#saidReadyAt < SAID_WITHIN_MS) await pause(ms);
  }

  /** Ends what is under way, and then all of it. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#whyNotServing = 'stopping';
    for (const end of this.#endings.toReversed()) end();
    await this.#server?.close();
    const store = await this.#store?.catch(() => undefined);
    await store?.close();
  }
}

/** A store to serve, for the environment of the service. @throws StoreNotUsable, StoreUnavailable */
async function openForService(config: Config, logger: Logger, onMade: () => void): Promise<Store> {
  const store = await openStore(config.databaseUrl, {
    ...({ create: true, purpose: 'service', currentUrl: config.currentDatabaseUrl } as const),
    onMigrated: (from, to) => {
      if (from === 0) onMade();
      else logger.info({ from, to }, 'migrated the schema');
    },
    onConnection: (what, details) => logger.debug(details, what),
  });
  await claim(store, config);
  return store;
}

/**
 * Makes sure that the store was not moved away, and is for the environment of the service, so that no key of another
 * one opens it.
 * @throws StoreNotUsable when it is not so; the store is closed then
 */
async function claim(store: Store, { databaseUrl, environment }: Config): Promise<void> {
  try {
    expectNotMoved(databaseUrl, (await store.status()).movedTo);
    expectEnvironment(databaseUrl, await environmentOf(store, environment), environment);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Integers as the log has them. */
function texts(values: Readonly<Record<string, bigint>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}
