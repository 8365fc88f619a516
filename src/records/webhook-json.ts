import type { Sent } from '../../protocol/exact-json.ts';
import type { Webhook } from '../../protocol/generated/records.ts';
import { positionText } from '../../protocol/history.ts';
import { formatTimestamp, timeText } from '../domain/timestamp.ts';
import { webhookState } from '../domain/webhook.ts';
import type { LaggingWebhook } from '../store/store.ts';

/**
 * Returns v2's Webhook record.
 * @param sees paths of URLs and the endpoint's answers can have secrets: the whole URL is for those who may change the webhook, the answers for its API key, and
 *   both for operators
 */
export function webhookRecord(
  { webhook, lag }: LaggingWebhook,
  sees: 'all' | 'url' | 'host',
): Sent<Webhook> {
  const { id, description, types, petIds, pauseReason, position, failures } = webhook;
  const { nextAttemptAt, lastSuccessAt, lastFailure, createdAt, createdBy, rotatedAt } = webhook;
  return {
    ...{ id, url: sees === 'host' ? new URL('/', webhook.url).href : webhook.url },
    ...{ description, types, petIds },
    state: webhookState(webhook),
    pauseReason,
    after: positionText(position),
    lag: { count: lag.count, since: timeText(lag.since) },
    failures,
    nextAttemptAt: timeText(nextAttemptAt),
    lastSuccessAt: timeText(lastSuccessAt),
    lastFailure: lastFailure && {
      at: formatTimestamp(lastFailure.at),
      ...(sees === 'all' && { status: lastFailure.status, problem: lastFailure.problem }),
    },
    createdAt: formatTimestamp(createdAt),
    createdBy,
    secretRotatedAt: timeText(rotatedAt),
  };
}
