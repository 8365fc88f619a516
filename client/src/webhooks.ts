import type { OperationName } from '../../protocol/generated/error-codes.ts';
import type {
  Webhook,
  WebhookList,
  WebhookSecret,
  WebhookTest,
} from '../../protocol/generated/records.ts';
import { idempotencyKeyOf, int64Text, oneOf, plainObject, text } from './arguments.ts';
import { type Call, calling } from './call.ts';
import type { ChangeType } from './feed/changes.ts';
import { pageBefore, type Reply, type Request, send } from './request.ts';
import { repeated, repeatedChange } from './retries.ts';
import type { CallOptions, Settings } from './settings.ts';
import { isWebhook, isWebhookList, isWebhookSecret, isWebhookTest } from './shapes.ts';

/** Settings of a webhook; absent fields stay as they are. */
export interface WebhookSettings {
  readonly url?: string | undefined;
  /** For people; null for none. */
  readonly description?: string | null | undefined;
  /** The types of the changes to send; null for all. */
  readonly types?: readonly ChangeType[] | null | undefined;
  /** The pets whose changes to send; null for all. */
  readonly petIds?: readonly bigint[] | null | undefined;
  /** A cursor of changes after which deliveries continue, `start` or `now`. */
  readonly after?: string | undefined;
  readonly state?: 'active' | 'paused' | undefined;
}

const PATH = '/v2/webhooks';
/** Webhooks per request. */
const PAGE = '500';

/** See StoreOrders.listWebhooks. */
export async function listWebhooks(
  settings: Settings,
  options: CallOptions,
): Promise<readonly Webhook[]> {
  const all: Webhook[] = [];
  for (let cursor: string | undefined; ; ) {
    const request = { ...requestOf('listWebhooks', 'GET', ''), query: { limit: PAGE, cursor } };
    const { webhooks, next } = await calling(settings, options, (call) =>
      repeated(call, async () => {
        const page = await send(call, request, (reply) => reply.record<WebhookList>(isWebhookList));
        if (page.next !== undefined && page.next === cursor) throw pageBefore(call);
        return page;
      }),
    );
    all.push(...webhooks);
    if (next === undefined) return all;
    cursor = next;
  }
}

/** See StoreOrders.getWebhook. */
export async function getWebhook(
  settings: Settings,
  id: string,
  options: CallOptions,
): Promise<Webhook> {
  const request = requestOf('getWebhook', 'GET', pathOf(id));
  return calling(settings, options, (call) =>
    repeated(call, () => send(call, request, webhookIn(id))),
  );
}

/** See StoreOrders.createWebhook. */
export async function createWebhook(
  settings: Settings,
  webhook: WebhookSettings,
  options: CallOptions,
): Promise<WebhookSecret> {
  const request = {
    ...requestOf('createWebhook', 'POST', ''),
    expects: [201],
    body: bodyOf(webhook),
  };
  return changing(settings, options, (call) =>
    send(call, request, (reply) => reply.record<WebhookSecret>(isWebhookSecret)),
  );
}

/** See StoreOrders.updateWebhook. */
export async function updateWebhook(
  settings: Settings,
  id: string,
  changes: WebhookSettings,
  options: CallOptions,
): Promise<Webhook> {
  const request = { ...requestOf('updateWebhook', 'PATCH', pathOf(id)), body: bodyOf(changes) };
  return changing(settings, options, (call) => send(call, request, webhookIn(id)));
}

/** See StoreOrders.deleteWebhook. */
export async function deleteWebhook(
  settings: Settings,
  id: string,
  options: CallOptions,
): Promise<void> {
  const request = { ...requestOf('deleteWebhook', 'DELETE', pathOf(id)), expects: [204] };
  await calling(settings, options, (call) =>
    repeatedChange(call, {
      attempt: () => send(call, request, (reply) => reply.empty()),
      resultIn: ({ code }) => code === 'webhook_not_found' || undefined,
    }),
  );
}

/** A call that can be repeated. */
export interface RotationOptions extends CallOptions {
  /** Identifies the rotation; a new key by default. A repetition with the same key returns the same secret. */
  readonly idempotencyKey?: string | undefined;
}

/** See StoreOrders.rotateWebhookSecret. */
export async function rotateWebhookSecret(
  settings: Settings,
  id: string,
  options: RotationOptions,
): Promise<WebhookSecret> {
  const idempotencyKey = idempotencyKeyOf(options.idempotencyKey);
  const request = {
    ...requestOf('rotateWebhookSecret', 'POST', `${pathOf(id)}/rotate-secret`),
    headers: { 'idempotency-key': idempotencyKey },
  };
  return calling(settings, options, (call) =>
    repeatedChange(call, {
      idempotencyKey,
      attempt: () => send(call, request, (reply) => reply.record<WebhookSecret>(isWebhookSecret)),
      resultIn: () => undefined,
    }),
  );
}

/** See StoreOrders.testWebhook. */
export async function testWebhook(
  settings: Settings,
  id: string,
  options: CallOptions,
): Promise<WebhookTest> {
  const request = requestOf('testWebhook', 'POST', `${pathOf(id)}/test`);
  return calling(settings, { ...options, retries: 0 }, (call) =>
    repeated(call, () => send(call, request, (reply) => reply.record<WebhookTest>(isWebhookTest))),
  );
}

function changing<T>(
  settings: Settings,
  options: CallOptions,
  attempt: (call: Call) => Promise<T>,
): Promise<T> {
  return calling(settings, options, (call) =>
    repeatedChange(call, { attempt: () => attempt(call), resultIn: () => undefined }),
  );
}

function requestOf(operation: OperationName, method: Request['method'], path: string): Request {
  return { operation, method, path: `${PATH}${path}`, expects: [200] };
}

function pathOf(id: string): string {
  if (typeof id === 'string' && id !== '') return `/${encodeURIComponent(id)}`;
  throw new TypeError('id must be the id of a webhook');
}

function webhookIn(id: string): (reply: Reply) => Promise<Webhook> {
  return (reply) => reply.record<Webhook>((found: Webhook) => isWebhook(found) && found.id === id);
}

const FIELDS = ['url', 'description', 'types', 'petIds', 'after', 'state'];

function bodyOf(webhook: WebhookSettings): string {
  plainObject(webhook, 'a webhook');
  // A misspelt filter must not be ignored.
  const unknown = Object.keys(webhook).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`a webhook has no field ${unknown} that can be set`);
  const { description, types, petIds } = webhook;
  const texts = (['url', 'after'] as const).map(
    (name) => [name, quoted(text(webhook[name], name))] as const,
  );
  const fields = [
    ...texts,
    ['state', quoted(oneOf(webhook.state, ['active', 'paused'], 'state'))] as const,
    ['description', orNull(description, (each) => quoted(text(each, 'description')))] as const,
    ['types', orNull(types, (each) => JSON.stringify(each))] as const,
    ['petIds', orNull(petIds, idList)] as const,
  ];
  const given = fields.filter(([, json]) => json !== undefined);
  return `{${given.map(([name, json]) => `"${name}":${json}`).join()}}`;
}

function quoted(value: string | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

/** The JSON of a field that null removes. */
function orNull<T>(
  value: T | null | undefined,
  json: (value: T) => string | undefined,
): string | undefined {
  if (value === undefined) return undefined;
  return value === null ? 'null' : json(value);
}

function idList(ids: readonly bigint[]): string {
  return `[${ids.map((each) => int64Text(each, 'a petId')).join()}]`;
}
