import { refuse } from '../../../http/request/reply.ts';
import { operation } from '../../operation.ts';
import { applied } from '../../submit.ts';
import { NOT_STORED } from '../replies.ts';
import { webhookToChange } from './permitted-webhook.ts';

/** DELETE /webhooks/{webhookId} */
export const deleteWebhook = operation('deleteWebhook', async (call, { store }) => {
  const { webhook, ifTag } = await webhookToChange(call, store);
  const outcome = await applied(call, store, { type: 'deleteWebhook', id: webhook.id, ifTag });
  return outcome === 'deleted' ? { status: 204, headers: NOT_STORED } : refuse(outcome);
});
