import { statSync } from 'node:fs';
import type { Webhook } from '../../../domain/webhook.ts';
import { urlProblem } from '../../../feed/deliveries/addresses.ts';
import {
  readWebhookKey,
  type WebhookKey,
  WebhookKeyUnusable,
} from '../../../feed/deliveries/webhook-key.ts';
import type { WebhookSettings } from '../../../service/settings/config.ts';
import { type Finding, ok, problem, warning } from '../../../store/diagnosis.ts';
import { counted } from '../../terminal/terminal.ts';

/** Checks whether the webhooks of a store can be delivered with these settings. */
export function webhooksOf(webhooks: readonly Webhook[], settings: WebhookSettings): Finding[] {
  if (webhooks.length === 0) return [];
  return [keyOf(webhooks, settings), ...rightsOf(settings), ...endpointsOf(webhooks, settings)];
}

function keyOf(webhooks: readonly Webhook[], { keyFile }: WebhookSettings): Finding {
  const advice = 'restore the file, or rotate the secrets ("store-orders webhooks rotate")';
  let key: WebhookKey | undefined;
  try {
    key = keyFile && readWebhookKey(keyFile);
  } catch (error) {
    if (!(error instanceof WebhookKeyUnusable)) throw error;
    return problem('webhooks', error.message, advice);
  }
  if (keyFile === undefined) {
    const found = 'WEBHOOK_KEY_FILE is not set, so webhooks are not delivered';
    return problem('webhooks', found, 'set it to the webhook key of the store, on all nodes');
  }
  if (key === undefined) return problem('webhooks', `${keyFile.path} does not exist`, advice);
  const others = webhooks.filter(({ keyName }) => keyName !== key.name);
  if (others.length === 0)
    return ok('webhooks', `${counted(webhooks.length, 'webhook')}, all of this key`);
  const found = `${keyFile.path} is not the webhook key of ${namesOf(others)}`;
  return problem('webhooks', found, advice);
}

/** Checks that only the owner can read the key's file: all secrets derive from it. */
function rightsOf({ keyFile }: WebhookSettings): Finding[] {
  const stat = keyFile && statSync(keyFile.path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & 0o077) === 0) return [];
  const found = `other users may read ${keyFile!.path}, from which the secrets of webhooks are derived`;
  return [warning('webhooks', found, `chmod 600 ${keyFile!.path}`)];
}

function endpointsOf(webhooks: readonly Webhook[], { allowed }: WebhookSettings): Finding[] {
  const find = (isWrong: (webhook: Webhook) => boolean) => webhooks.filter(isWrong);
  const advice = '"store-orders webhooks show ID" has the last failure';
  const groups = [
    {
      found: 'were paused by the service',
      of: find(({ pauseReason }) => pauseReason !== undefined && pauseReason !== 'requested'),
      advice: `${advice}; resume them when their endpoints work, or set the positions of those whose history is gone`,
    },
    {
      found: 'fail',
      of: find(({ pauseReason, failures }) => pauseReason === undefined && failures > 0),
      advice,
    },
    {
      found: 'have URLs that may not be called',
      of: find(({ url }) => urlProblem(url, allowed) !== undefined),
      advice: 'permit them with WEBHOOK_ALLOW, or delete them',
    },
  ];
  return groups
    .filter(({ of }) => of.length > 0)
    .map(({ found, of, advice: what }) => warning('webhooks', `${namesOf(of)} ${found}`, what));
}

function namesOf(webhooks: readonly Webhook[]): string {
  const shown = webhooks.slice(0, 5).map(({ id }) => id);
  return webhooks.length > 5 ? `${shown.join(', ')} and others` : shown.join(', ');
}
