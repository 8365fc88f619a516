import { Counter, type Registry } from '@prometheus-io/client';
import { type Webhook, type WebhookLag, webhookState } from '../domain/webhook.ts';
import { lagsOf, type Store } from '../store/store.ts';
import { registerGauges, sharedRead } from './gauges.ts';

/** Webhooks, read at each scrape. */
interface WebhookSource {
  readonly store: Pick<Store, 'webhooks' | 'webhookLags'>;
  /** Whether this node sends deliveries. */
  readonly isDelivering: () => boolean;
}

/** The metrics have no samples before `observeWebhooks` is called. */
export function registerWebhooks(registry: Registry) {
  let source: WebhookSource | undefined;
  const deliveries = new Counter({
    name: 'store_orders_webhook_deliveries_total',
    help: 'Deliveries to webhooks by outcome: accepted (2xx), refused (another status), or failed (no answer).',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  for (const outcome of ['accepted', 'refused', 'failed']) deliveries.inc({ outcome }, 0);
  const read = sharedRead(
    () => source,
    async ({ store }) => lagsOf(store, await store.webhooks()),
  );
  const lags = (value: (lag: WebhookLag) => number) => async () =>
    (await read())
      ?.filter(({ webhook }) => webhook.pauseReason !== 'requested')
      .map(({ webhook, lag }) => [{ webhook: webhook.id }, value(lag)] as const);
  registerGauges(registry, [
    {
      name: 'store_orders_webhook_lag_changes',
      help: 'Changes that a webhook has not delivered yet, wanted or not; at most 1000 are counted. Not for webhooks that are paused on request.',
      labelNames: ['webhook'],
      read: lags(({ count }) => count),
    },
    {
      name: 'store_orders_webhook_lag_seconds',
      help: 'Age of the first change that a webhook has not delivered yet; 0 without one. Not for webhooks that are paused on request.',
      labelNames: ['webhook'],
      read: lags(({ since }) =>
        since === undefined ? 0 : Math.max(0, (Date.now() - since) / 1_000),
      ),
    },
    {
      name: 'store_orders_webhooks',
      help: 'Webhooks by state: active, failing, paused on request, or paused_by_service.',
      labelNames: ['state'],
      read: async () => {
        const states = (await read())?.map(({ webhook }) => stateOf(webhook));
        return (
          states &&
          STATES.map((state) => [{ state }, states.filter((each) => each === state).length])
        );
      },
    },
    {
      name: 'store_orders_webhooks_delivering',
      help: '1 on the node that sends the deliveries of all webhooks, 0 on others.',
      read: () => (source?.isDelivering() === true ? 1 : 0),
    },
  ]);
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
