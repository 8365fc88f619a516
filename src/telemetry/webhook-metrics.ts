import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import { withTimeout } from '../concurrency.ts';
import { type Webhook, type WebhookLag, webhookState } from '../domain/webhook.ts';
import { type LaggingWebhook, lagsOf, type Store } from '../store/store.ts';

/** Timeout of the reads of a scrape. */
const READ_WITHIN_MS = 1_000;

/** Webhooks, read at each scrape. */
interface WebhookSource {
  readonly store: Pick<Store, 'webhooks' | 'webhookLags'>;
  /** Whether this node sends deliveries. */
  readonly isDelivering: () => boolean;
}

/** The metrics have no samples before `observeWebhooks` is called. */
export function registerWebhooks(registry: Registry) {
  let source: WebhookSource | undefined;
  const registers = [registry];
  const deliveries = new Counter({
    name: 'store_orders_webhook_deliveries_total',
    help: 'Deliveries to webhooks by outcome: accepted (2xx), refused (another status), or failed (no answer).',
    labelNames: ['outcome'] as const,
    registers,
  });
  for (const outcome of ['accepted', 'refused', 'failed']) deliveries.inc({ outcome }, 0);
  let reading: Promise<readonly LaggingWebhook[] | undefined> | undefined;
  /** The gauges of a scrape share a read: the registry collects them at the same time. */
  const read = () => {
    const from = source;
    if (from === undefined) return Promise.resolve(undefined);
    reading ??= withTimeout(READ_WITHIN_MS, async () =>
      lagsOf(from.store, await from.store.webhooks()),
    )
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const lagGauge = (name: string, help: string, value: (lag: WebhookLag) => number) =>
    new Gauge({
      name,
      help: `${help} Not for webhooks that are paused on request.`,
      labelNames: ['webhook'] as const,
      registers,
      async collect() {
        const found = await read();
        this.reset();
        for (const { webhook, lag } of found ?? []) {
          if (webhook.pauseReason !== 'requested') this.set({ webhook: webhook.id }, value(lag));
        }
      },
    });
  lagGauge(
    'store_orders_webhook_lag_changes',
    'Changes that a webhook has not delivered yet, wanted or not; at most 1000 are counted.',
    ({ count }) => count,
  );
  lagGauge(
    'store_orders_webhook_lag_seconds',
    'Age of the first change that a webhook has not delivered yet; 0 without one.',
    ageOf,
  );
  new Gauge({
    name: 'store_orders_webhooks',
    help: 'Webhooks by state: active, failing, paused on request, or paused_by_service.',
    labelNames: ['state'] as const,
    registers,
    async collect() {
      const found = await read();
      this.reset();
      if (found === undefined) return;
      for (const state of STATES) this.set({ state }, 0);
      for (const { webhook } of found) this.inc({ state: stateOf(webhook) });
    },
  });
  new Gauge({
    name: 'store_orders_webhooks_delivering',
    help: '1 on the node that sends the deliveries of all webhooks, 0 on others.',
    registers,
    collect() {
      this.set(source?.isDelivering() === true ? 1 : 0);
    },
  });
  return {
    webhookDeliveries: deliveries,
    observeWebhooks: (from: WebhookSource) => {
      source = from;
    },
  };
}

const STATES = ['active', 'failing', 'paused', 'paused_by_service'] as const;

function stateOf(webhook: Webhook): (typeof STATES)[number] {
  const { pauseReason } = webhook;
  const isByService = pauseReason !== undefined && pauseReason !== 'requested';
  return isByService ? 'paused_by_service' : webhookState(webhook);
}

function ageOf({ since }: WebhookLag): number {
  return since === undefined ? 0 : Math.max(0, (Date.now() - since) / 1_000);
}
