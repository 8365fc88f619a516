import type { Sent } from '../../../../protocol/exact-json.ts';
import type { Webhook as WebhookRecord } from '../../../../protocol/generated/records.ts';
import { type ApiKey, isAllowed } from '../../../domain/api-key.ts';
import { type Webhook, webhookTag } from '../../../domain/webhook.ts';
import { Refused, type Reply, refuse, refuseScope } from '../../../http/request/reply.ts';
import { webhookRecord } from '../../../records/webhook-json.ts';
import { lagsOf, type Store } from '../../../store/store.ts';
import type { Call } from '../../operation.ts';
import { tagConditions } from '../../preconditions.ts';
import { recordReply } from '../replies.ts';

type WebhookCall = Call<
  'getWebhook' | 'updateWebhook' | 'deleteWebhook' | 'rotateWebhookSecret' | 'testWebhook'
>;

/** The scope with which an API key changes webhooks that another key, or an operator, has created. */
const OTHERS = 'webhooks:manage-all';

/** Returns what an API key sees of a webhook: all if it has created it, and the whole URL if it may change those of others. */
export function sightOf(key: ApiKey, { createdBy }: Webhook): 'all' | 'url' | 'host' {
  if (key.id === createdBy) return 'all';
  return isAllowed(key, OTHERS) ? 'url' : 'host';
}

/** Returns the webhook that a request names. @throws Refused if there is none with this id */
export async function findWebhook({ parameters }: WebhookCall, store: Store): Promise<Webhook> {
  const [found] = await store.webhooks(parameters.webhookId);
  if (found === undefined) throw new Refused(refuse('webhook_not_found'));
  return found;
}

/**
 * Returns the webhook that a request changes, with its `tagConditions`.
 * @throws Refused if there is none, if it belongs to another API key, or if a precondition does not hold
 */
export async function webhookToChange(call: WebhookCall, store: Store, isRepeatable = false) {
  const webhook = await findWebhook(call, store);
  if (sightOf(call.key, webhook) === 'host') throw new Refused(refuseScope(OTHERS));
  const tag = webhookTag(webhook);
  return { webhook, ...tagConditions(call.request, tag, 'webhook_changed', isRepeatable) };
}

/** Returns the record of a webhook, for the client with this key. */
export async function recordOf(
  store: Store,
  webhook: Webhook,
  key: ApiKey,
): Promise<Sent<WebhookRecord>> {
  const [found] = await lagsOf(store, [webhook]);
  return webhookRecord(found!, sightOf(key, webhook));
}

export async function webhookReply(
  store: Store,
  webhook: Webhook,
  key: ApiKey,
): Promise<Reply<Sent<WebhookRecord>>> {
  return recordReply(await recordOf(store, webhook, key), { tag: webhookTag(webhook) });
}
