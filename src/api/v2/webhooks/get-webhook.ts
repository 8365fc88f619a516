import type { Contract } from '../../../http/contract/contract.ts';
import type { RouteHandler } from '../../../http/request/exchange.ts';
import type { Store } from '../../../store/store.ts';
import { findWebhook, sendWebhook, type WebhookId } from './responses.ts';

/** GET /webhooks/{webhookId} */
export function getWebhook(contract: Contract, store: Store): RouteHandler {
  return contract.validated<WebhookId>('getWebhook', async (exchange, { parameters }) => {
    const webhook = await findWebhook(exchange, store, parameters);
    if (webhook !== undefined) await sendWebhook(exchange, store, webhook, { status: 200 });
  });
}
