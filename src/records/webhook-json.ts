import type { Sent } from '../../protocol/exact-json.ts';
import type { Webhook } from '../../protocol/generated/records.ts';
import { positionText } from '../../protocol/history.ts';
import { formatTimestamp } from '../domain/timestamp.ts';
import { webhookState } from '../domain/webhook.ts';
import type { LaggingWebhook } from '../store/store.ts';

/**
 * Returns v2's Webhook record.
 * @param isWhole whether to include the whole URL and the endpoint's answers, which can have secrets: for operators, and the API keys that may change
 *   the webhook. Others get scheme and host of the URL
 */
export function webhookRecord({ webhook, lag }: LaggingWebhook, isWhole: boolean): Sent<Webhook> {
  const { id, description, types, petIds, pauseReason, position, failures } = webhook;
  const { nextAttemptAt, lastSuccessAt, lastFailure, createdAt, createdBy, rotatedAt } = webhook;
  return {
    ...{ id, url: isWhole ? webhook.url : new URL('/', webhook.url).href },
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
      ...(isWhole && { status: lastFailure.status, problem: lastFailure.problem }),
    },
    createdAt: formatTimestamp(createdAt),
    createdBy,
    secretRotatedAt: timeText(rotatedAt),
  };
}

function timeText(at: number | undefined): string | undefined {
  return at === undefined ? undefined : formatTimestamp(at);
}
