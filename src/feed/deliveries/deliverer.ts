import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { LEASE_MS, type Webhook } from '../../domain/webhook.ts';
import type { RecordedDelivery } from '../../store/commands.ts';
import { GroupCommit } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { SharedReads } from '../follow.ts';
import { Deliveries, type DeliveriesParts } from './deliveries.ts';
import type { WebhookKey } from './webhook-key.ts';

/** How often the position of the store is read. */
const TICK_MS = 200;
/** How often webhooks are read again: clients may have changed them. */
const REFRESH_MS = 1_000;
/** How often the lease is renewed, or asked for. */
const LEASE_EVERY_MS = 3_000;
/** Deliveries begin only while the lease lasts longer than this. */
const LEASE_MARGIN_MS = 2_000;

interface DelivererParts extends Pick<DeliveriesParts, 'allowed' | 'logger' | 'onDelivery'> {
  readonly store: Pick<Store, 'feed' | 'webhooks' | 'apply'>;
  /** Returns the service's webhook key; undefined if there is none (yet). @throws WebhookKeyUnusable */
  readonly key: () => WebhookKey | undefined;
}

/**
 * Sends the deliveries of all webhooks, as long as this node has the lease. When the process dies, another node takes the lease over within
 * LEASE_MS + LEASE_EVERY_MS; a stop hands it over at once.
 */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #node = randomUUID();
  readonly #deliveries: Deliveries;
  readonly #stopping = new AbortController();
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** By performance.now(). */
  #leaseEndsAt = Number.NEGATIVE_INFINITY;
  /** When this node got the lease that it has. */
  #leasedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();
  #hasFailed = false;
  /** Whether it was logged that this node lacks the key of some webhooks. */
  #isKeyReported = false;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
    const { store, allowed, logger, onDelivery } = parts;
    const saves = new GroupCommit((batch: readonly RecordedDelivery[]) => this.#save(batch));
    this.#deliveries = new Deliveries({
      feed: new SharedReads(store.feed).read,
      save: (delivery) => saves.submit(delivery),
      mayDeliver: () => this.isDelivering,
      ...{ allowed, logger, onDelivery },
    });
  }

  /** Whether this node may send deliveries. */
  get isDelivering(): boolean {
    if (this.#stopping.signal.aborted) return false;
    return performance.now() < this.#leaseEndsAt - LEASE_MARGIN_MS;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Begins no more deliveries, waits for those in flight, ends them after `ms`, and lets another node continue. */
  async close(ms: number): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#deliveries.close(ms);
    if (this.#leaseEndsAt === Number.NEGATIVE_INFINITY) return;
    // If this fails, another node continues once the lease has ended.
    await this.#release().catch(() => {});
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#turn();
        this.#hasFailed = false;
      } catch (error) {
        if (!this.#hasFailed) {
          this.#parts.logger.warn({ err: error }, 'webhooks cannot be delivered; this is retried');
        }
        this.#hasFailed = true;
      }
      await pause(TICK_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #turn(): Promise<void> {
    const { store } = this.#parts;
    const isDue = performance.now() - this.#refreshedAt >= REFRESH_MS;
    if (isDue || this.#deliveries.isOutdated) await this.#refresh();
    if (this.#deliveries.isEmpty) {
      if (this.#leaseEndsAt > performance.now()) await this.#release();
      return;
    }
    if (performance.now() - this.#askedAt >= LEASE_EVERY_MS) await this.#lease();
    if (!this.isDelivering) return;
    // Another node may have recorded deliveries before this one got the lease.
    if (this.#refreshedAt < this.#leasedAt) await this.#refresh();
    const page = await store.feed('now', 1);
    if (page !== undefined) this.#deliveries.begin(page.now);
  }

  async #refresh(): Promise<void> {
    const { store, key: readKey } = this.#parts;
    const readAt = performance.now();
    const webhooks = await store.webhooks();
    const key = webhooks.length === 0 ? undefined : readKey();
    this.#reportKey(webhooks, key);
    this.#deliveries.offer(webhooks, key, readAt);
    this.#refreshedAt = readAt;
  }

  /** Logs once that secrets cannot be derived. */
  #reportKey(webhooks: readonly Webhook[], key: WebhookKey | undefined): void {
    const others = webhooks.filter(
      ({ keyName, pauseReason }) => pauseReason === undefined && keyName !== key?.name,
    );
    if (others.length > 0 && !this.#isKeyReported) {
      const ids = others.map(({ id }) => id).slice(0, 20);
      this.#parts.logger.error(
        { webhooks: ids, key: key?.name ?? 'none' },
        'this node does not have the webhook key of some webhooks, and does not deliver them',
      );
    }
    this.#isKeyReported = others.length > 0;
  }

  async #lease(): Promise<void> {
    const { store, logger } = this.#parts;
    const askedAt = performance.now();
    const [outcome] = await store.apply([{ type: 'leaseWebhooks', node: this.#node }]);
    // If the lease ended before this call, another node may have had it in between.
    const had = this.#leaseEndsAt > askedAt;
    this.#askedAt = askedAt;
    this.#leaseEndsAt = outcome === 'held' ? askedAt + LEASE_MS : Number.NEGATIVE_INFINITY;
    if (outcome === 'held' && !had) {
      this.#leasedAt = performance.now();
      this.#deliveries.forget();
      logger.info('this node delivers webhooks');
    }
    if (outcome !== 'held' && had) logger.info('another node delivers webhooks');
  }

  async #release(): Promise<void> {
    await this.#parts.store.apply([{ type: 'releaseWebhooks', node: this.#node }]);
    this.#leaseEndsAt = Number.NEGATIVE_INFINITY;
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  async #save(deliveries: readonly RecordedDelivery[]): Promise<boolean[]> {
    const command = { type: 'recordDeliveries', node: this.#node, deliveries } as const;
    const [recorded] = await this.#parts.store.apply([command]);
    return deliveries.map(({ id }) => recorded!.includes(id));
  }
}
