import type { OrderDraft, OrderId } from './order.ts';

/**
 * How long the store keeps the placement of an idempotency key; expired placements are deleted by later ones. The contract promises a day. Two
 * more days allow for clocks that are a day wrong: the node that placed the order may be a day behind, and the node that deletes a day ahead.
 */
export const PLACEMENT_KEPT_MS = 3 * 24 * 3_600_000;

/** Places a new order under an id that the store assigns. */
export interface PlaceOrderCommand extends RepeatableRequest {
  readonly type: 'placeOrder';
  readonly draft: Omit<OrderDraft, 'id'>;
  /** How many orders the key may place in any hour; undefined for any number. */
  readonly placesPerHour?: number | undefined;
}

/** Names a request among those of an API key. */
export interface RequestName {
  /** Id of the API key. */
  readonly by: string;
  readonly idempotencyKey: string;
}

/** A request that returns the first outcome when it is repeated with the same key. */
export interface RepeatableRequest extends RequestName {
  /** Of the request; a repetition with another one is refused. */
  readonly digest: string;
}

/** A placement as stored. */
export interface Placement extends RepeatableRequest {
  readonly id: OrderId;
  /** The revision that placed the order; 0 if there was one with its reference already. */
  readonly revision: bigint;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export type PlaceOrderOutcome =
  | {
      readonly refusal?: undefined;
      readonly id: OrderId;
      readonly revision: bigint;
      readonly at: number;
      /** Whether the order was placed by an earlier command with the same key. */
      readonly isReplay: boolean;
    }
  /** An order with the same content was placed before with the same reference, and may have changed since. */
  | {
      readonly refusal?: undefined;
      readonly id: OrderId;
      readonly revision?: undefined;
      readonly isReplay: true;
    }
  /** `retryAt`: when the key may place again, in milliseconds since the epoch. */
  | { readonly refusal: 'place_limit_reached'; readonly retryAt: number }
  | { readonly refusal: 'idempotency_key_reused' | 'reference_taken' | 'no_ids_left' };
