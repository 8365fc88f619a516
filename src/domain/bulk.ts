import type { Decision, OrderCommand } from './lifecycle.ts';
import type { RepeatableRequest } from './placement.ts';

/** Maximum number of orders that one command changes; stated in the contract of v2. */
export const MAX_BULK = 1_000;

export type ChangeCommand = Exclude<OrderCommand, { type: 'insertOrder' }>;

/** Cancels or ships several orders, in one transaction and one revision. */
export interface BulkCommand {
  readonly type: 'bulk';
  /** Up to MAX_BULK, of different orders. */
  readonly changes: readonly ChangeCommand[];
  /** Whether either all orders are changed or none. */
  readonly isAtomic: boolean;
  /** Makes the command repeatable. */
  readonly repeatable?: RepeatableRequest | undefined;
}

export type ChangeResult = Exclude<Decision['outcome'], 'placed'> | 'cancel_limit_reached';

export type BulkOutcome =
  | {
      readonly refusal?: undefined;
      /** In the order of the command. */
      readonly results: readonly ChangeResult[];
      readonly isReplay: boolean;
      /** Set if the key's limit refused a cancel: when it may cancel again, in milliseconds since the epoch. */
      readonly retryAt?: number | undefined;
    }
  | { readonly refusal: 'idempotency_key_reused' }
  /** The refusal of an atomic command; `results` has the result that each order would have had. */
  | { readonly refusal: 'orders_not_changed'; readonly results: readonly ChangeResult[] }
  | { readonly refusal: 'cancel_limit_reached'; readonly retryAt: number };

export function isDone(result: ChangeResult): boolean {
  return result === 'cancelled' || result === 'shipped';
}
