import { newWebhook } from '../../../domain/webhook.ts';
import type { AllowedTargets } from '../../../feed/deliveries/addresses.ts';
import type { KeyForNew } from '../../../feed/deliveries/webhook-key.ts';
import { secretOf } from '../../../feed/deliveries/webhook-secrets.ts';
import type { Contract } from '../../../http/contract/contract.ts';
import { inTime } from '../../../http/request/deadline.ts';
import type { RouteHandler } from '../../../http/request/exchange.ts';
import { sendError } from '../../../http/request/responses.ts';
import type { Store } from '../../../store/store.ts';
import { failsPrecondition } from '../../preconditions.ts';
import { sendWebhook } from './responses.ts';
import { checkedSettings, type WebhookSettings } from './settings.ts';

/** POST /webhooks: creates a webhook; the response has its secret. */
export function createWebhook(
  contract: Contract,
  parts: {
    readonly store: Store;
    readonly keyForNew: KeyForNew;
    readonly allowed: AllowedTargets;
  },
): RouteHandler {
  const { store, keyForNew } = parts;
  return contract.validated<object, WebhookSettings & { readonly url: string }>(
    'createWebhook',
    async (exchange, { body }) => {
      if (failsPrecondition(exchange.request, true)) {
        sendError(exchange, 'precondition_failed');
        return;
      }
      const settings = await checkedSettings(exchange, parts, { after: 'now', ...body });
      if (settings === undefined) return;
      const key = keyForNew(await inTime(exchange, () => store.webhooks()));
      if (key === undefined) {
        sendError(exchange, 'webhooks_unavailable');
        return;
      }
      const { events, petIds } = settings;
      const webhook = newWebhook({
        url: settings.url!,
        description: body.description || undefined,
        events: events?.length === 0 ? undefined : events,
        petIds: petIds?.length === 0 ? undefined : petIds,
        position: settings.position!,
        createdAt: Date.now(),
        createdBy: exchange.apiKey!.id,
        keyName: key.name,
      });
      const command = { type: 'createWebhook', webhook } as const;
      const [outcome] = await inTime(exchange, () => store.apply([command]));
      if (outcome === 'created') {
        const secret = secretOf(key.bytes, webhook);
        await sendWebhook(exchange, store, webhook, { status: 201, secret });
      } else sendError(exchange, outcome!);
    },
  );
}
