import { toJson } from '../../../../protocol/exact-json.ts';
import { webhookRecord } from '../../../records/webhook-json.ts';
import { lagsOf } from '../../../store/store.ts';
import { jsonReply, operation } from '../../operation.ts';
import { NOT_STORED } from '../replies.ts';
import { isOwn } from './permitted-webhook.ts';

/** GET /webhooks: all webhooks, the oldest first. */
export const listWebhooks = operation('listWebhooks', async ({ key }, { store }) => {
  const found = await lagsOf(store);
  const webhooks = found.map((each) => webhookRecord(each, isOwn(key, each.webhook)));
  return jsonReply(200, NOT_STORED, toJson({ webhooks }));
});
