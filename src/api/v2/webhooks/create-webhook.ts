import { newWebhook, webhookTag } from '../../../domain/webhook.ts';
import { secretOf } from '../../../feed/deliveries/webhook-key.ts';
import { refuse } from '../../../http/request/reply.ts';
import { operation } from '../../operation.ts';
import { failsPrecondition } from '../../preconditions.ts';
import { applied } from '../../submit.ts';
import { recordReply } from '../replies.ts';
import { recordOf } from './permitted-webhook.ts';
import { checkedSettings } from './settings.ts';

/** POST /webhooks: creates a webhook; the response has its secret. */
export const createWebhook = operation('createWebhook', async (call, services) => {
  const { request, key: apiKey, body } = call;
  const { store, webhooks, basePath } = services;
  if (failsPrecondition(request, true)) return refuse('precondition_failed');
  const { url, position, types, petIds } = await checkedSettings(services, {
    after: 'now',
    ...body,
  });
  const key = webhooks.keyForNew(await store.webhooks());
  if (key === undefined) return refuse('webhooks_unavailable');
  const webhook = newWebhook({
    url: url!,
    description: body.description || undefined,
    types,
    petIds,
    position: position!,
    createdAt: Date.now(),
    createdBy: apiKey.id,
    keyName: key.name,
  });
  const command = { type: 'createWebhook', webhook, maxOfKey: webhooks.maxOfKey } as const;
  const outcome = await applied(call, store, command);
  if (outcome !== 'created') return refuse(outcome);
  const secret = secretOf(key.bytes, webhook);
  const record = await recordOf(store, webhook, apiKey);
  const headers = ['location', `${basePath}/webhooks/${webhook.id}`];
  const tag = webhookTag(webhook);
  return recordReply({ webhook: record, secret }, { status: 201, tag, headers });
});
