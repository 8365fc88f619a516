import { toJson } from '../../../../protocol/exact-json.ts';
import { webhookRecord } from '../../../records/webhook-json.ts';
import { lagsOf } from '../../../store/store.ts';
import { jsonReply, operation } from '../../operation.ts';
import { listPage } from '../list-page.ts';
import { NOT_STORED } from '../replies.ts';
import { sightOf } from './permitted-webhook.ts';

/** GET /webhooks: a page of webhooks, the oldest first. */
export const listWebhooks = operation(
  'listWebhooks',
  async ({ key, parameters }, { store }) => {
    const { page, next } = listPage('webhooks', await store.webhooks(), parameters);
    const found = await lagsOf(store, page);
    const webhooks = found.map((each) => webhookRecord(each, sightOf(key, each.webhook)));
    return jsonReply(200, NOT_STORED, toJson({ webhooks, next }));
  },
  { reads: 'page' },
);
