import { toJson } from '../../../../protocol/exact-json.ts';
import { sendTest, TEST_WITHIN_MS } from '../../../feed/deliveries/test-delivery.ts';
import { inTime } from '../../../http/request/exchange.ts';
import { refuse } from '../../../http/request/reply.ts';
import { jsonReply, operation } from '../../operation.ts';
import { NOT_STORED } from '../replies.ts';
import { findWebhook, sightOf } from './permitted-webhook.ts';

/** Maximum number of tests at the same time. */
const MAX_TESTS_AT_ONCE = 10;
let running = 0;

/** POST /webhooks/{webhookId}/test: sends a delivery without changes. */
export const testWebhook = operation(
  'testWebhook',
  async (call, { store, webhooks }) => {
    const readBy = { answerBy: call.answerBy - TEST_WITHIN_MS };
    const webhook = await inTime(readBy, () => findWebhook(call, store));
    const key = webhooks.keyOf(webhook);
    if (key === undefined) return refuse('webhooks_unavailable');
    if (running >= MAX_TESTS_AT_ONCE) return refuse('too_many_tests');
    running += 1;
    try {
      const { allowed } = webhooks;
      const { accepted, status, problem, ms } = await sendTest(store, { webhook, key, allowed });
      const answer = sightOf(call.key, webhook) === 'all' ? { status, problem } : {};
      return jsonReply(200, NOT_STORED, toJson({ accepted, durationMs: ms, ...answer }));
    } finally {
      running -= 1;
    }
  },
  { extraMs: TEST_WITHIN_MS },
);
