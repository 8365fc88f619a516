import type { BulkOutcome, ChangeResult } from './bulk.ts';
import type { OrderRefusal } from './lifecycle.ts';
import type { PlaceOrderOutcome } from './placement.ts';

/** Why a change of a webhook is refused. */
type WebhookRefusal =
  | 'webhook_not_found'
  | 'webhook_changed'
  | 'webhook_url_taken'
  | 'webhook_limit_reached'
  | 'too_many_webhooks'
  | 'webhooks_unavailable'
  | 'idempotency_key_reused';

/** Why a command of a client is refused; the table of errors has a status and a message for each. */
export type CommandRefusal =
  | Exclude<OrderRefusal, 'order_differs'>
  | Extract<ChangeResult, 'cancel_limit_reached'>
  | NonNullable<PlaceOrderOutcome['refusal']>
  | NonNullable<BulkOutcome['refusal']>
  | WebhookRefusal;
