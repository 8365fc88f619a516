import { ConcurrencyLimit } from '../../../concurrency.ts';
import { sendTest, TEST_WITHIN_MS } from '../../../feed/deliveries/test-delivery.ts';
import { inTime } from '../../../http/request/exchange.ts';
import { Refused, refuse } from '../../../http/request/reply.ts';
import { operation } from '../../operation.ts';
import { recordReply } from '../replies.ts';
import { findWebhook, sightOf } from './permitted-webhook.ts';

/** Maximum number of tests at the same time. */
const MAX_TESTS_AT_ONCE = 10;
const LIMIT = new ConcurrencyLimit(MAX_TESTS_AT_ONCE, () => new Refused(refuse('too_many_tests')));

/** POST /webhooks/{webhookId}/test: sends a delivery without changes. */
export const testWebhook = operation(
  'testWebhook',
  async (call, { store, webhooks }) => {
    const readBy = { answerBy: call.answerBy - TEST_WITHIN_MS };
    const webhook = await inTime(readBy, () => findWebhook(call, store));
    const key = webhooks.keyOf(webhook);
    if (key === undefined) return refuse('webhooks_unavailable');
    const test = { webhook, key, allowed: webhooks.allowed };
    const { accepted, status, problem, ms } = await LIMIT.run(() => sendTest(store, test));
    const answer = sightOf(call.key, webhook) === 'all' ? { status, problem } : {};
    return recordReply({ accepted, durationMs: ms, ...answer });
  },
  { extraMs: TEST_WITHIN_MS },
);
