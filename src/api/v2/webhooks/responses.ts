import { toJson } from '../../../../protocol/exact-json.ts';
import { isAllowed } from '../../../domain/api-key.ts';
import { type Webhook, webhookTag } from '../../../domain/webhook.ts';
import { type HeaderList, scopeChallenge } from '../../../http/errors.ts';
import { inTime } from '../../../http/request/deadline.ts';
import type { Exchange } from '../../../http/request/exchange.ts';
import { send, sendError } from '../../../http/request/responses.ts';
import { webhookRecord } from '../../../records/webhook-json.ts';
import type { Store } from '../../../store/store.ts';
import { lagsOf } from '../../../store/webhook-lags.ts';
import { failedPrecondition, namesState } from '../../preconditions.ts';
import { JSON_TYPE, NOT_STORED } from '../responses.ts';

/** The path parameter. */
export interface WebhookId {
  readonly webhookId: string;
}

/** Whether the API key of the request has created a webhook. */
export function isOwn(exchange: Exchange, { createdBy }: Webhook): boolean {
  return exchange.apiKey!.id === createdBy;
}

/** Sends JSON that is not to be cached: the state of a webhook changes with each delivery. */
export function sendFresh(
  exchange: Exchange,
  status: 200 | 201,
  value: unknown,
  headers: HeaderList = [],
): void {
  send(exchange, status, [...NOT_STORED, ...headers, ...JSON_TYPE], Buffer.from(toJson(value)));
}

/** How a webhook is sent. */
interface WebhookResponse {
  readonly status: 200 | 201;
  /** Undefined unless it is to be shown. */
  readonly secret?: string | undefined;
  readonly headers?: HeaderList;
}

/** Sends a webhook. */
export async function sendWebhook(
  exchange: Exchange,
  store: Store,
  webhook: Webhook,
  { status, secret, headers = [] }: WebhookResponse,
): Promise<void> {
  const only = { webhooks: async () => [webhook], webhookLags: store.webhookLags };
  const [found] = await inTime(exchange, () => lagsOf(only));
  const record = webhookRecord(found!, isOwn(exchange, webhook));
  const value = secret === undefined ? record : { webhook: record, secret };
  sendFresh(exchange, status, value, ['etag', `"${webhookTag(webhook)}"`, ...headers]);
}

/** A webhook that a request may change, and the tag that it must still have; undefined for any. */
export interface ChangeableWebhook {
  readonly webhook: Webhook;
  readonly ifTag: string | undefined;
}

/**
 * Returns the webhook that a request changes. Sends an error and returns undefined if there is none with this id, if it belongs to another API
 * key, or if a precondition does not hold.
 */
export async function webhookToChange(
  exchange: Exchange,
  store: Store,
  parameters: WebhookId,
): Promise<ChangeableWebhook | undefined> {
  const webhook = await permittedWebhook(exchange, store, parameters);
  if (webhook === undefined) return undefined;
  const { refusal, ifTag } = preconditionsOf(exchange, webhook);
  if (refusal === undefined) return { webhook, ifTag };
  sendError(exchange, refusal);
  return undefined;
}

/** Returns the webhook, unless it does not exist or belongs to another API key: then it sends an error. */
export async function permittedWebhook(
  exchange: Exchange,
  store: Store,
  parameters: WebhookId,
): Promise<Webhook | undefined> {
  const webhook = await findWebhook(exchange, store, parameters);
  if (webhook === undefined) return undefined;
  if (isOwn(exchange, webhook) || isAllowed(exchange.apiKey!, OTHERS)) return webhook;
  sendError(exchange, 'scope_missing', scopeChallenge(OTHERS));
  return undefined;
}

/** If-Match and If-None-Match of a request that changes a webhook: RFC 9110, sections 13.1.1 and 13.1.2. */
export function preconditionsOf(
  { request }: Exchange,
  webhook: Webhook,
): {
  readonly refusal?: 'webhook_changed' | 'precondition_failed';
  readonly ifTag?: string | undefined;
} {
  const tag = webhookTag(webhook);
  const failed = failedPrecondition(request, `"${tag}"`);
  if (failed === 'if-match') return { refusal: 'webhook_changed' };
  if (failed === 'if-none-match') return { refusal: 'precondition_failed' };
  const isConditional = namesState(request) || request.headers['if-none-match'] !== undefined;
  return { ifTag: isConditional ? tag : undefined };
}

/** The scope with which an API key changes webhooks that another key, or an operator, has created. */
const OTHERS = 'webhooks:manage-all';

/** Returns a webhook; sends 404 and returns undefined if there is none with this id. */
export async function findWebhook(
  exchange: Exchange,
  store: Store,
  { webhookId }: WebhookId,
): Promise<Webhook | undefined> {
  const webhooks = await inTime(exchange, () => store.webhooks());
  const found = webhooks.find(({ id }) => id === webhookId);
  if (found === undefined) sendError(exchange, 'webhook_not_found');
  return found;
}
