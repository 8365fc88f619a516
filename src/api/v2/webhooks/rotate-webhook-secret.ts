import { toJson } from '../../../../protocol/exact-json.ts';
import { webhookTag } from '../../../domain/webhook.ts';
import { secretOf } from '../../../feed/deliveries/webhook-key.ts';
import { expectTime } from '../../../http/request/exchange.ts';
import { refuse } from '../../../http/request/reply.ts';
import { jsonReply, operation } from '../../operation.ts';
import { tagConditions } from '../../preconditions.ts';
import { optionalIdempotencyKeyOf } from '../orders/idempotency-key.ts';
import { permittedWebhook, recordOf, webhookHeaders } from './permitted-webhook.ts';

/** A tag that no webhook has. */
const NO_TAG = '';

/**
 * POST /webhooks/{webhookId}/rotate-secret: the response has the new secret. A repetition with the same Idempotency-Key returns it again,
 * without a further rotation.
 */
export const rotateWebhookSecret = operation('rotateWebhookSecret', async (call, services) => {
  const { store, webhooks } = services;
  const idempotencyKey = optionalIdempotencyKeyOf(call.request);
  const webhook = await permittedWebhook(call, store);
  // The first request has changed the webhook. So the store recognizes a repetition before it evaluates preconditions.
  const { refusal, ifTag = refusal && NO_TAG } = tagConditions(
    call.request,
    webhookTag(webhook),
    'webhook_changed',
  );
  if (refusal !== undefined && idempotencyKey === undefined) return refuse(refusal);
  const key = webhooks.keyOf(webhook);
  if (key === undefined) return refuse('webhooks_unavailable');
  const command = {
    ...({ type: 'rotateWebhook', id: webhook.id } as const),
    ...{ keyName: key.name, at: Date.now(), ifTag },
    name: idempotencyKey === undefined ? undefined : { by: call.key.id, idempotencyKey },
  };
  expectTime(call);
  const [outcome] = await store.apply([command]);
  if (outcome === 'webhook_changed') return refuse(refusal ?? outcome);
  if (typeof outcome === 'string') return refuse(outcome);
  const { webhook: now, generation, isReplay } = outcome!;
  const secret = secretOf(key.bytes, { id: now.id, generation });
  const record = await recordOf(store, now, call.key);
  const headers = [...webhookHeaders(now), ...(isReplay ? ['idempotent-replayed', 'true'] : [])];
  return jsonReply(200, headers, toJson({ webhook: record, secret }));
});
