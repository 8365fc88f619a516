import type { Contract } from '../../../http/contract/contract.ts';
import { inTime } from '../../../http/request/deadline.ts';
import type { RouteHandler } from '../../../http/request/exchange.ts';
import { sendEmpty, sendError } from '../../../http/request/responses.ts';
import type { Store } from '../../../store/store.ts';
import { NOT_STORED } from '../responses.ts';
import { type WebhookId, webhookToChange } from './responses.ts';

/** DELETE /webhooks/{webhookId} */
export function deleteWebhook(contract: Contract, store: Store): RouteHandler {
  return contract.validated<WebhookId>('deleteWebhook', async (exchange, { parameters }) => {
    const found = await webhookToChange(exchange, store, parameters);
    if (found === undefined) return;
    const { webhook, ifTag } = found;
    const command = { type: 'deleteWebhook', id: webhook.id, ifTag } as const;
    const [outcome] = await inTime(exchange, () => store.apply([command]));
    if (outcome === 'deleted') sendEmpty(exchange, 204, NOT_STORED);
    else sendError(exchange, outcome!);
  });
}
