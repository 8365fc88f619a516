import type { KeyOf } from '../../../feed/deliveries/webhook-key.ts';
import { secretOf } from '../../../feed/deliveries/webhook-secrets.ts';
import type { Contract } from '../../../http/contract/contract.ts';
import { inTime } from '../../../http/request/deadline.ts';
import type { RouteHandler } from '../../../http/request/exchange.ts';
import { sendError, sendProblems } from '../../../http/request/responses.ts';
import type { Store } from '../../../store/store.ts';
import { MALFORMED_IDEMPOTENCY_KEY, optionalIdempotencyKeyOf } from '../idempotency-key.ts';
import { permittedWebhook, preconditionsOf, sendWebhook, type WebhookId } from './responses.ts';

/** A tag that no webhook has. */
const NO_TAG = '';

/**
 * POST /webhooks/{webhookId}/rotate-secret: the response has the new secret. A repetition with the same Idempotency-Key gets it again, and
 * replaces none.
 */
export function rotateWebhookSecret(
  contract: Contract,
  { store, keyOf }: { readonly store: Store; readonly keyOf: KeyOf },
): RouteHandler {
  return contract.validated<WebhookId>('rotateWebhookSecret', async (exchange, { parameters }) => {
    const given = optionalIdempotencyKeyOf(exchange.request);
    if (given === 'malformed') {
      sendProblems(exchange, 'parameter_invalid', [MALFORMED_IDEMPOTENCY_KEY]);
      return;
    }
    const webhook = await permittedWebhook(exchange, store, parameters);
    if (webhook === undefined) return;
    // The first request has changed the webhook, so the store looks for it before it evaluates the preconditions of a repetition.
    const { refusal, ifTag = refusal && NO_TAG } = preconditionsOf(exchange, webhook);
    if (refusal !== undefined && given === undefined) {
      sendError(exchange, refusal);
      return;
    }
    const key = keyOf(webhook);
    if (key === undefined) {
      sendError(exchange, 'webhooks_unavailable');
      return;
    }
    const command = {
      ...({ type: 'rotateWebhook', id: webhook.id } as const),
      ...{ keyName: key.name, at: Date.now(), ifTag },
      name: given && { by: exchange.apiKey!.id, idempotencyKey: given.key },
    };
    const [outcome] = await inTime(exchange, () => store.apply([command]));
    if (outcome === 'webhook_changed') sendError(exchange, refusal ?? outcome);
    else if (typeof outcome === 'string') sendError(exchange, outcome);
    else {
      const { webhook: now, generation, isReplay } = outcome!;
      const secret = secretOf(key.bytes, { id: now.id, generation });
      const headers = isReplay ? ['idempotent-replayed', 'true'] : [];
      await sendWebhook(exchange, store, now, { status: 200, secret, headers });
    }
  });
}
