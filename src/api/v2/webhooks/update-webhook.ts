import { refuse } from '../../../http/request/reply.ts';
import { operation } from '../../operation.ts';
import { applied } from '../../submit.ts';
import { webhookReply, webhookToChange } from './permitted-webhook.ts';
import { checkedSettings } from './settings.ts';

/** PATCH /webhooks/{webhookId}: changes settings, pauses, resumes, or sets the position in the feed. */
export const updateWebhook = operation('updateWebhook', async (call, services) => {
  const { store } = services;
  const { description, state } = call.body;
  const { webhook, ifTag } = await webhookToChange(call, store);
  const settings = await checkedSettings(services, call.body);
  const isPaused = state === undefined ? undefined : state === 'paused';
  const changes = { ...settings, description: description === null ? '' : description, isPaused };
  const command = { type: 'changeWebhook', id: webhook.id, changes, ifTag } as const;
  const outcome = await applied(call, store, command);
  return typeof outcome === 'string' ? refuse(outcome) : webhookReply(store, outcome, call.key);
});
