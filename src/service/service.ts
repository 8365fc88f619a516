import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Position } from '../../protocol/history.ts';
import { TimedOut, withTimeout } from '../concurrency.ts';
import { KeyClock } from '../domain/key-clock.ts';
import { Deliverer } from '../feed/deliveries/deliverer.ts';
import { readWebhookKey } from '../feed/deliveries/webhook-key.ts';
import { Cors } from '../http/request/cors.ts';
import type { PublicServer } from '../http/server.ts';
import { LIST_KEPT_MS, Listing } from '../listing/listing.ts';
import { isTransient, type Store, StoreUnavailable } from '../store/store.ts';
import { rounded } from '../telemetry/logger.ts';
import { createMetrics, type Metrics } from '../telemetry/metrics.ts';
import { startTraces, type Traces } from '../telemetry/traces.ts';
import { startBackups } from './backups.ts';
import { openForService } from './open-for-service.ts';
import { buildPublicListener } from './public-listener.ts';
import type { Config } from './settings/config.ts';
import type { Settings } from './settings/reader.ts';
import { watchClock, watchStore } from './watch.ts';

/** Timeout of the store check in a readiness probe. */
const READY_WITHIN_MS = 1_000;
/** Of no key. */
const NO_DIGEST = new Uint8Array(32);
/** A stop is announced to load balancers only if a probe reported ready within this time. */
const RECENTLY_READY_MS = 60_000;
/** How long a stop waits for the answers to deliveries. */
const DELIVERIES_WITHIN_MS = 2_000;
/** How long a stop waits for the last spans. */
const TRACES_WITHIN_MS = 2_000;
/** How long the public listener of one of several nodes waits for a list that is in use, which takes 4 s for a million orders. */
const LIST_WITHIN_MS = 60_000;
/** Delay between attempts to reach the database at startup. */
const RETRY_MS = 500;

/** The service in one process: the store, its list in memory, and the public listener. */
export class Service {
  readonly #config: Config;
  readonly #logger: Logger;
  #traces: Traces | undefined;
  readonly metrics: Metrics;
  readonly #clock = new KeyClock();
  /** The origins whose scripts may use the service, which can change while it runs. */
  readonly cors: Cors;
  #store: Promise<Store> | undefined;
  #openStore: Store | undefined;
  #server: PublicServer | undefined;
  #listing: Listing | undefined;
  /** Whether the list was asked for in the day before the start. */
  #isListInUse = false;
  #deliverer: Deliverer | undefined;
  #isClosing = false;
  /** When a probe last reported ready, by performance.now(). */
  #reportedReadyAt = Number.NEGATIVE_INFINITY;
  /** Why it does not serve: the step of the start, what it waits for, or the stop; undefined while it serves. */
  #notServing: string | undefined = 'starting';
  /** Cleanup functions, called in reverse order. */
  readonly #endings: (() => void)[] = [];

  constructor(config: Config, logger: Logger) {
    this.#config = config;
    this.cors = new Cors(config.corsOrigins);
    this.#logger = logger;
    this.metrics = createMetrics({
      environment: config.environment,
      database: config.database.label,
      store: () => this.#openStore,
      isReady: async () => (await this.whyNotReady()) === undefined,
    });
  }

  /**
   * Opens the store, waiting for a database that cannot be reached.
   * @param onMade called if the database did not exist and was created
   * @throws StoreNotUsable, StoreUnavailable
   */
  async open(onMade: () => void): Promise<Store> {
    const logger = this.#logger;
    this.#store = this.#openWhenAvailable(onMade);
    const store = await this.#store;
    this.#expectNotStopped();
    this.#openStore = store;
    const { revision, head, orders, latestAt, listedAt = 0 } = await store.status();
    this.#isListInUse = Date.now() - listedAt < LIST_KEPT_MS;
    if (latestAt !== undefined) this.#clock.notBefore(latestAt);
    this.#endings.push(watchClock(this.#clock, logger));
    const { name: engine, schema } = store.engine;
    const counts = texts({ revision, ...orders });
    logger.info({ engine, schema, head, ...counts }, 'opened the store');
    return store;
  }

  /**
   * Starts the public listener. The list is read at its first request, or from now on, if it was in use in the last day. Where other nodes
   * can serve lists, the listener waits for it, so that no list is refused while nodes are restarted one by one.
   */
  async listen(): Promise<AddressInfo> {
    const [config, logger, metrics] = [this.#config, this.#logger, this.metrics];
    const store = this.#openStore!;
    const listing = new Listing(store, {
      onRefresh: (changed, ms) => {
        metrics.listRefreshes.inc({ changed: changed > 0 ? 'yes' : 'no' });
        if (changed === 0) return;
        logger.debug({ changed, ms: rounded(ms) }, 'updated the list');
      },
      onMiscount: (listed, counted) => {
        metrics.countFault('damaged');
        logger.error(
          { listed, counted },
          'the list lacks orders that the store counts, or has others: the database is damaged, or was copied or altered by hand; run "store-orders check"',
        );
      },
      onUse: () => recordListUse(store, logger),
    });
    this.#listing = listing;
    this.#server = buildPublicListener({
      config,
      store,
      listing,
      metrics,
      logger,
      clock: this.#clock,
      cors: this.cors,
      traces: this.#traces,
    });
    const inMemory = this.#isListInUse ? listing.readAhead() : undefined;
    if (inMemory !== undefined && (store.engine.name === 'postgresql' || config.reusePort)) {
      this.#notServing = 'starting: the list of v1, which is in use, is being read';
      await withTimeout(LIST_WITHIN_MS, () => inMemory).catch(() => {});
      this.#expectNotStopped();
    }
    const address = await this.#server.listen(config);
    // `close` has ended everything that was started before.
    if (this.#isClosing) return address;
    this.#endings.push(
      watchStore({ store, listing }, logger, (fault) => metrics.countFault(fault)),
    );
    this.#notServing = undefined;
    this.#startBackups();
    this.#startDeliveries(store);
    return address;
  }

  #startDeliveries(store: Store): void {
    const { keyFile, allowed } = this.#config.webhooks;
    const metrics = this.metrics;
    this.#deliverer = new Deliverer({
      store,
      key: () => keyFile && readWebhookKey(keyFile),
      allowed,
      logger: this.#logger,
      onDelivery: (outcome) => metrics.webhookDeliveries.inc({ outcome }),
    });
    metrics.observeWebhooks({ store, isDelivering: () => this.#deliverer!.isDelivering });
    this.#deliverer.start();
  }

  #startBackups(): void {
    const { database, backups: settings } = this.#config;
    if (settings === undefined) return;
    const metrics = this.metrics;
    const onFailure = () => metrics.backupFailures.inc();
    const { latest, stop } = startBackups(database.file!, settings, this.#logger, onFailure);
    metrics.observeBackups({ everyMs: settings.everyMs, latest });
    this.#endings.push(stop);
  }

  /** @throws StoreUnavailable if the service was stopped during startup */
  #expectNotStopped(): void {
    if (this.#isClosing) throw new StoreUnavailable('the service is stopping', 'unreachable');
  }

  async #openWhenAvailable(onMade: () => void): Promise<Store> {
    const onWaiting = (reason: string) => {
      this.#notServing = `starting: ${reason}`;
      this.#logger.warn({ reason }, 'startup is waiting');
    };
    for (let isWaiting = false; ; isWaiting = true) {
      try {
        return await openForService(this.#config, this.#logger, onMade, onWaiting);
      } catch (error) {
        if (this.#isClosing || !isTransient(error)) throw error;
        if (!isWaiting) this.#logger.warn({ err: error }, 'waiting for the database');
        this.#notServing = `waiting for the database: ${(error as Error).message}`;
        await pause(RETRY_MS);
      }
    }
  }

  /** Resolves to the reason why the service is not ready; undefined if it is ready. */
  async whyNotReady(): Promise<string | undefined> {
    if (this.#notServing !== undefined) return this.#notServing;
    const store = this.#openStore!;
    // Every request looks up a key.
    const usable = () => Promise.all([store.status(), store.connected(), store.keys([NO_DIGEST])]);
    try {
      await withTimeout(READY_WITHIN_MS, usable);
      return undefined;
    } catch (error) {
      if (error instanceof TimedOut) return 'the store has not answered in time';
      return (error as Error).message;
    }
  }

  /** Traces requests, if an endpoint is set; before `listen`. */
  async startTraces(environment: Settings): Promise<void> {
    const onFailure = () => this.metrics.traceFailures.inc();
    this.#traces = await startTraces(environment, this.#logger, onFailure);
  }

  /** Resolves to the head of the store; undefined while it is unavailable. */
  async head(): Promise<Position | undefined> {
    const read = () => Promise.resolve(this.#openStore?.status());
    const status = await withTimeout(READY_WITHIN_MS, read).catch(() => undefined);
    return status && { revision: status.revision, head: status.head! };
  }

  /** The state of v1's list, for people. */
  get listState(): string {
    const { isInMemory = false, firstRead } = this.#listing ?? {};
    if (isInMemory) return 'in memory';
    if (firstRead === undefined) return 'read at the first request';
    return `being read, ${firstRead.read} of ${firstRead.total} orders`;
  }

  /** Like `whyNotReady`, but records that a probe reported ready, for `drain`. */
  async answerReadiness(): Promise<string | undefined> {
    const reason = await this.whyNotReady();
    if (reason === undefined) this.#reportedReadyAt = performance.now();
    return reason;
  }

  /**
   * Reports not ready from now on, while requests are still served. Resolves after `ms`, or at once if no probe has
   * recently reported ready.
   */
  async drain(ms: number): Promise<void> {
    this.#notServing = 'stopping';
    if (performance.now() - this.#reportedReadyAt < RECENTLY_READY_MS) await pause(ms);
  }

  /** Completes the requests in flight, then closes the listener and the store. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#notServing = 'stopping';
    for (const end of this.#endings.toReversed()) end();
    const { stopLimitMs } = this.#config;
    // Another node repeats deliveries that are not answered by then.
    await Promise.all([
      this.#server?.close(),
      this.#deliverer?.close(Math.min(DELIVERIES_WITHIN_MS, stopLimitMs / 2)),
    ]);
    this.#listing?.stop();
    const store = await this.#store?.catch(() => undefined);
    await store?.close();
    await this.#traces?.close(Math.min(TRACES_WITHIN_MS, stopLimitMs / 2));
  }
}

/** Records that the list is in use, so that the next start reads it ahead; without the record, its first request does. */
function recordListUse(store: Store, logger: Logger): void {
  store.apply([{ type: 'recordListUse', at: Date.now() }]).catch((error) => {
    logger.debug({ err: error }, 'the use of the list was not recorded');
  });
}

/** Converts bigints to strings for the log. */
function texts(values: Readonly<Record<string, bigint>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}
