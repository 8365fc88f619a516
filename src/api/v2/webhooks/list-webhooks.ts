import { type ListPlace, listCursor, parseListCursor } from '../../../records/page-cursors.ts';
import { webhookRecord } from '../../../records/webhook-json.ts';
import { lagsOf } from '../../../store/store.ts';
import { operation } from '../../operation.ts';
import { afterCursor, DEFAULT_LIMIT, recordReply } from '../replies.ts';
import { sightOf } from './permitted-webhook.ts';

/** GET /webhooks: a page of webhooks, the oldest first. */
export const listWebhooks = operation(
  'listWebhooks',
  async ({ key, parameters }, { store }) => {
    const { limit = DEFAULT_LIMIT, cursor } = parameters;
    const after = afterCursor(cursor, (text) => parseListCursor('webhooks', text));
    const all = await store.webhooks();
    const from = after === undefined ? 0 : all.findIndex((each) => isAfter(each, after));
    const rest = from === -1 ? [] : all.slice(from);
    const page = rest.slice(0, Number(limit));
    const found = await lagsOf(store, page);
    const webhooks = found.map((each) => webhookRecord(each, sightOf(key, each.webhook)));
    const next = rest.length > page.length ? listCursor('webhooks', page.at(-1)!) : undefined;
    return recordReply({ webhooks, next });
  },
  { reads: 'page' },
);

/** Whether a webhook comes after another, in the order of the store. */
function isAfter(one: ListPlace, other: ListPlace): boolean {
  if (one.createdAt !== other.createdAt) return one.createdAt > other.createdAt;
  return one.id > other.id;
}
