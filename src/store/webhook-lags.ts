import { MAX_LAGS, type Webhook, type WebhookLag } from '../domain/webhook.ts';
import type { Store } from './store.ts';

/** A webhook, and what it has not delivered yet. */
export interface LaggingWebhook {
  readonly webhook: Webhook;
  readonly lag: WebhookLag;
}

/** Reads all webhooks with their lags, of a few webhooks at a time so that other reads need not wait. */
export async function lagsOf(
  store: Pick<Store, 'webhooks' | 'webhookLags'>,
): Promise<LaggingWebhook[]> {
  const webhooks = await store.webhooks();
  const revisions = webhooks.map(({ position, examined }) => (examined ?? position).revision);
  const different = [...new Set(revisions)];
  const lags = new Map<bigint, WebhookLag>();
  for (let from = 0; from < different.length; from += MAX_LAGS) {
    const part = different.slice(from, from + MAX_LAGS);
    const found = await store.webhookLags(part);
    for (const [index, lag] of found.entries()) lags.set(part[index]!, lag);
  }
  return webhooks.map((webhook, index) => ({ webhook, lag: lags.get(revisions[index]!)! }));
}
