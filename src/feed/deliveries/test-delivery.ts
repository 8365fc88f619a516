import { randomBytes } from 'node:crypto';
import type { Webhook } from '../../domain/webhook.ts';
import type { Store } from '../../store/store.ts';
import type { AllowedTargets } from './addresses.ts';
import { deliveryOf, headersOf } from './delivery.ts';
import { isAccepted, post } from './post.ts';
import { signingSecrets, type WebhookKey } from './webhook-key.ts';

/** How long the endpoint may take to answer a test. */
export const TEST_WITHIN_MS = 8_000;

/** Sends a delivery without changes, at the position of a webhook. */
export async function sendTest(
  store: Pick<Store, 'feed'>,
  test: Readonly<{ webhook: Webhook; key: WebhookKey; allowed: AllowedTargets }>,
) {
  const { webhook, key, allowed } = test;
  const { id, position, url } = webhook;
  const { now } = (await store.feed('now', 1))!;
  const isMore = position.revision < now.revision;
  const page = { changes: [], position, isMore, now };
  const { body } = await deliveryOf(id, position, page);
  // Each test is a new delivery.
  const delivery = { id: `msg_test_${randomBytes(12).toString('hex')}`, body };
  const headers = headersOf(delivery, signingSecrets(key, webhook, Date.now()));
  const began = performance.now();
  const withinMs = TEST_WITHIN_MS;
  const answer = await post({ url: new URL(url), headers, body, allowed, withinMs });
  const ms = Math.round(performance.now() - began);
  return { accepted: isAccepted(answer), status: answer.status, problem: answer.problem, ms };
}
