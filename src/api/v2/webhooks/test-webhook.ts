import type { Webhook } from '../../../domain/webhook.ts';
import type { KeyOf, WebhookKey } from '../../../feed/deliveries/webhook-key.ts';
import type { Contract } from '../../../http/contract/contract.ts';
import type { RouteHandler } from '../../../http/request/exchange.ts';
import { sendError } from '../../../http/request/responses.ts';
import type { Store } from '../../../store/store.ts';
import { findWebhook, isOwn, sendFresh, type WebhookId } from './responses.ts';

/** Maximum number of tests at the same time. */
const MAX_TESTS_AT_ONCE = 10;

/** What became of a test. */
export interface TestOutcome {
  readonly accepted: boolean;
  readonly status: number | undefined;
  readonly problem: string | undefined;
  readonly ms: number;
}

/** POST /webhooks/{webhookId}/test. @param test sends a delivery without changes */
export function testWebhook(
  contract: Contract,
  parts: {
    readonly store: Store;
    readonly keyOf: KeyOf;
    readonly test: (webhook: Webhook, key: WebhookKey) => Promise<TestOutcome>;
  },
): RouteHandler {
  const { store, keyOf, test } = parts;
  let running = 0;
  return contract.validated<WebhookId>('testWebhook', async (exchange, { parameters }) => {
    const webhook = await findWebhook(exchange, store, parameters);
    if (webhook === undefined) return;
    const key = keyOf(webhook);
    if (key === undefined || running >= MAX_TESTS_AT_ONCE) {
      sendError(exchange, 'webhooks_unavailable');
      return;
    }
    running += 1;
    try {
      const { status, problem, ...outcome } = await test(webhook, key);
      const answer = isOwn(exchange, webhook) ? { status, problem } : {};
      sendFresh(exchange, 200, { ...outcome, ...answer });
    } finally {
      running -= 1;
    }
  });
}
