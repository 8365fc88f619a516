import { webhookTag } from '../../../domain/webhook.ts';
import { secretOf } from '../../../feed/deliveries/webhook-key.ts';
import { refuse } from '../../../http/request/reply.ts';
import { operation } from '../../operation.ts';
import { applied } from '../../submit.ts';
import { optionalIdempotencyKeyOf } from '../orders/idempotency-key.ts';
import { recordReply } from '../replies.ts';
import { recordOf, webhookToChange } from './permitted-webhook.ts';

/**
 * POST /webhooks/{webhookId}/rotate-secret: the response has the new secret. A repetition with the same Idempotency-Key returns it again,
 * without a further rotation.
 */
export const rotateWebhookSecret = operation('rotateWebhookSecret', async (call, services) => {
  const { store, webhooks } = services;
  const idempotencyKey = optionalIdempotencyKeyOf(call.request);
  const isRepeatable = idempotencyKey !== undefined;
  const { webhook, refusal, ifTag } = await webhookToChange(call, store, isRepeatable);
  const key = webhooks.keyOf(webhook);
  if (key === undefined) return refuse('webhooks_unavailable');
  const command = {
    ...({ type: 'rotateWebhook', id: webhook.id } as const),
    ...{ keyName: key.name, at: Date.now(), ifTag },
    name: idempotencyKey === undefined ? undefined : { by: call.key.id, idempotencyKey },
  };
  const outcome = await applied(call, store, command);
  if (outcome === 'webhook_changed') return refuse(refusal ?? outcome);
  if (typeof outcome === 'string') return refuse(outcome);
  const { webhook: now, generation, isReplay } = outcome;
  const secret = secretOf(key.bytes, { id: now.id, generation });
  const record = await recordOf(store, now, call.key);
  const headers = isReplay ? ['idempotent-replayed', 'true'] : [];
  return recordReply({ webhook: record, secret }, { tag: webhookTag(now), headers });
});
