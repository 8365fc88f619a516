import type { AllowedTargets } from '../../../feed/deliveries/addresses.ts';
import type { Contract } from '../../../http/contract/contract.ts';
import { inTime } from '../../../http/request/deadline.ts';
import type { RouteHandler } from '../../../http/request/exchange.ts';
import { sendError } from '../../../http/request/responses.ts';
import type { Store } from '../../../store/store.ts';
import { sendWebhook, type WebhookId, webhookToChange } from './responses.ts';
import { checkedSettings, type WebhookSettings } from './settings.ts';

/** The body. */
interface WebhookChanges extends WebhookSettings {
  readonly state?: 'active' | 'paused';
}

/** PATCH /webhooks/{webhookId}: changes settings, pauses, resumes, or sets the place in the feed. */
export function updateWebhook(
  contract: Contract,
  parts: { readonly store: Store; readonly allowed: AllowedTargets },
): RouteHandler {
  const { store } = parts;
  return contract.validated<WebhookId, WebhookChanges>(
    'updateWebhook',
    async (exchange, { parameters, body }) => {
      const found = await webhookToChange(exchange, store, parameters);
      if (found === undefined) return;
      const settings = await checkedSettings(exchange, parts, body);
      if (settings === undefined) return;
      const { description, state } = body;
      const isPaused = state === undefined ? undefined : state === 'paused';
      const changes = { ...settings, description, isPaused };
      const { webhook, ifTag } = found;
      const command = { type: 'changeWebhook', id: webhook.id, changes, ifTag } as const;
      const [outcome] = await inTime(exchange, () => store.apply([command]));
      if (typeof outcome === 'string') sendError(exchange, outcome);
      else await sendWebhook(exchange, store, outcome!, { status: 200 });
    },
  );
}
