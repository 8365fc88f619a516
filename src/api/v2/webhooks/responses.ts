import { inTime } from '../../../http/deadline.ts';
import type { Exchange } from '../../../http/exchange.ts';
import { send, sendError } from '../../../http/responses.ts';
import { toJson } from '../../../json/to-json.ts';
import type { Store } from '../../../store/store.ts';
import { lagsOf } from '../../../store/webhook-lags.ts';
import type { Webhook } from '../../../webhooks/webhook.ts';
import { NOT_STORED } from '../responses.ts';
import { webhookRecord } from './records.ts';

/** The path parameter. */
export interface WebhookId {
  readonly webhookId: string;
}

/** Whether the API key of the request has created a webhook. */
export function isOwn(exchange: Exchange, { createdBy }: Webhook): boolean {
  return exchange.apiKey!.id === createdBy;
}

/** Sends JSON that is not to be cached: the state of a webhook changes with each delivery. */
export function sendFresh(exchange: Exchange, status: 200 | 201, value: unknown): void {
  const headers = [...NOT_STORED, 'content-type', 'application/json'];
  send(exchange, status, headers, Buffer.from(toJson(value)));
}

/** Sends a webhook. @param secret undefined unless it is to be shown */
export async function sendWebhook(
  exchange: Exchange,
  store: Store,
  webhook: Webhook,
  { status, secret }: { readonly status: 200 | 201; readonly secret?: string | undefined },
): Promise<void> {
  const only = { webhooks: async () => [webhook], webhookLags: store.webhookLags };
  const [found] = await inTime(exchange, () => lagsOf(only));
  const record = webhookRecord(found!, isOwn(exchange, webhook));
  sendFresh(exchange, status, secret === undefined ? record : { webhook: record, secret });
}

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
