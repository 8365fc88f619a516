import { operation } from '../../operation.ts';
import { findWebhook, webhookReply } from './permitted-webhook.ts';

/** GET /webhooks/{webhookId} */
export const getWebhook = operation('getWebhook', async (call, { store }) =>
  webhookReply(store, await findWebhook(call, store), call.key),
);
