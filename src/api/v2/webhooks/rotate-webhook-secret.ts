import type { Contract } from '../../../contract/contract.ts';
import { inTime } from '../../../http/deadline.ts';
import type { RouteHandler } from '../../../http/exchange.ts';
import { sendError } from '../../../http/responses.ts';
import type { Store } from '../../../store/store.ts';
import type { KeyOf } from '../../../webhooks/key.ts';
import { secretOf } from '../../../webhooks/signature.ts';
import { findWebhook, sendWebhook, type WebhookId } from './responses.ts';

/** POST /webhooks/{webhookId}/rotate-secret: the response has the new secret. */
export function rotateWebhookSecret(
  contract: Contract,
  { store, keyOf }: { readonly store: Store; readonly keyOf: KeyOf },
): RouteHandler {
  return contract.validated<WebhookId>('rotateWebhookSecret', async (exchange, { parameters }) => {
    const webhook = await findWebhook(exchange, store, parameters);
    if (webhook === undefined) return;
    const key = keyOf(webhook);
    if (key === undefined) {
      sendError(exchange, 'webhooks_unavailable');
      return;
    }
    const command = {
      ...({ type: 'rotateWebhook', id: webhook.id } as const),
      ...{ keyName: key.name, at: Date.now() },
    };
    const [outcome] = await inTime(exchange, () => store.apply([command]));
    if (typeof outcome === 'string') sendError(exchange, outcome);
    else {
      const secret = secretOf(key.bytes, outcome!);
      await sendWebhook(exchange, store, outcome!, { status: 200, secret });
    }
  });
}
