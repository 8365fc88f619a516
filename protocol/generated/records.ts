// Made from the contracts by "node build/records.ts". Integers are bigint, times RFC 3339 in UTC with milliseconds.

/** An order. A field without a value is left out. */
export interface Order {
  /** Unique order identifier. */
  readonly id?: bigint;
  /** Identifier of the animal in the order. */
  readonly petId?: bigint;
  /** Number of units ordered. */
  readonly quantity?: bigint;
  /** Expected or actual ship date, in UTC with milliseconds. */
  readonly shipDate?: string;
  /** Whether the order has been fulfilled. */
  readonly complete?: boolean;
}

/** An animal. A field without a value is left out. */
export interface Pet {
  /** Unique pet identifier. */
  readonly id?: bigint;
  /** The name of the animal. */
  readonly name?: string;
  /** A label, such as its species. */
  readonly tag?: string;
}

/** An order. A field without a value is left out. */
export interface OrderRecord {
  /** Unique order identifier. */
  readonly id: bigint;
  /** Identifier of the animal in the order. */
  readonly petId?: bigint;
  /** Number of units ordered. */
  readonly quantity?: bigint;
  /** Expected or actual ship date, in UTC with milliseconds. */
  readonly shipDate?: string;
  /** Whether the order has been fulfilled. */
  readonly complete?: boolean;
  /** The name that the integrator has given the order; no operation of this version changes it. */
  readonly reference?: string;
  /** A pending order can become shipped or cancelled; no operation of this version changes a shipped or cancelled order. Clients must expect further values. */
  readonly status: 'pending' | 'shipped' | 'cancelled' | (string & {});
  /** Why the order was cancelled; clients must expect other values. */
  readonly reason?:
    | 'customer_request'
    | 'out_of_stock'
    | 'pet_unavailable'
    | 'duplicate'
    | 'payment_failed'
    | 'other'
    | (string & {});
  /** The carrier's number of the shipment. */
  readonly trackingNumber?: string;
  /** When the store recorded the order. */
  readonly placedAt: string;
  /** When the store recorded the latest change of the order. */
  readonly updatedAt: string;
  /** The revision of the latest change; the revision of the store increases with every transaction that changes an order. */
  readonly revision: bigint;
  /** The ETag of the order, with its quotes; for If-Match, and for changes of several orders. */
  readonly etag: string;
}

/** The order to place. */
export interface NewOrder {
  /** Identifier of the animal. Orders of imports can have others. */
  readonly petId: bigint;
  /** Number of units. Orders of imports can have larger ones. */
  readonly quantity: bigint;
  /** Expected ship date, with an offset, in the years 1970 to 9999 as written. Digits beyond the millisecond are cut off. */
  readonly shipDate?: string;
  /** A name of your own for the order, without control characters; unique among the orders of the API key. */
  readonly reference?: string;
}

/** How to cancel the order, and the reference that it must have. */
export interface CancelDetails {
  readonly reason?: Reason;
  readonly reference?: ExpectedReference;
}

/** How to ship the order, and the reference that it must have. */
export interface ShipDetails {
  /** When the order was shipped; by default the current time. */
  readonly shippedAt?: string;
  readonly trackingNumber?: TrackingNumber;
  readonly reference?: ExpectedReference;
}

/** Why the order is cancelled: one of the examples where it fits, otherwise a word of your own. It is part of the history of the store, and no operation erases it: nothing about persons. */
export type Reason =
  | 'customer_request'
  | 'out_of_stock'
  | 'pet_unavailable'
  | 'duplicate'
  | 'payment_failed'
  | 'other'
  | (string & {});

/** The carrier's number of the shipment. It is part of the history of the store, and no operation erases it. */
export type TrackingNumber = string;

/** The reference that the order must have; otherwise the response is 412 `reference_differs`. So an id that belongs to another order, for example after the store was restored, changes nothing. */
export type ExpectedReference = string;

/** A page of orders. */
export interface OrderPage {
  /** The orders. */
  readonly orders: readonly OrderRecord[];
  /** The cursor of the next page; absent on the last page. */
  readonly next?: string;
  /** The revision of the store that the page shows. */
  readonly revision: bigint;
  /** The head of the history up to `revision`, in 64 hexadecimal digits: responses with the same head show the same state. */
  readonly head: string;
  /** The cursor with which listChanges returns the changes since this page: its `after`. */
  readonly changesAfter: string;
}

/** An order that is to be cancelled. */
export interface OrderToCancel {
  /** Unique order identifier. */
  readonly id: bigint;
  readonly etag?: ExpectedEtag;
  readonly reference?: ExpectedReference;
  readonly reason?: Reason;
}

/** An order that is to be shipped. */
export interface OrderToShip {
  /** Unique order identifier. */
  readonly id: bigint;
  readonly etag?: ExpectedEtag;
  readonly reference?: ExpectedReference;
  readonly trackingNumber?: TrackingNumber;
}

/** The ETag that the order must still have; as in If-Match. That of the header ETag is rejected with 400 if a proxy has changed it. */
export type ExpectedEtag = string;

/** The orders to find. */
export interface OrdersToFind {
  /** Identifiers of orders. */
  readonly ids?: readonly bigint[];
  /** References of orders. */
  readonly references?: readonly string[];
}

/** Orders that were found. */
export interface FoundOrders {
  /** The orders. */
  readonly orders: readonly OrderRecord[];
}

/** Orders to cancel. */
export interface BulkCancel {
  /** The orders, each once. */
  readonly orders: readonly OrderToCancel[];
  /** Whether either all orders are changed or none; false by default. */
  readonly atomic?: boolean;
}

/** Orders to ship. */
export interface BulkShip {
  /** The orders, each once. */
  readonly orders: readonly OrderToShip[];
  /** Whether either all orders are changed or none; false by default. */
  readonly atomic?: boolean;
  /** When the orders were shipped; by default the current time. */
  readonly shippedAt?: string;
}

/** What became of several orders. */
export interface ChangeResults {
  /** How many orders were not changed; their results have an `error`. */
  readonly failed: bigint;
  /** In the sequence of the request. */
  readonly results: readonly ChangeResult[];
}

/** What became of an order; it has either `order` or `error`. */
export interface ChangeResult {
  /** The id in the request. */
  readonly id: bigint;
  /** The order, which was changed. */
  readonly order?: OrderRecord;
  /** Why the order was not changed; without `order`. */
  readonly error?: ErrorRecord;
}

/** The history of an order. */
export interface OrderHistory {
  /** The name that the integrator has given the order; no operation of this version changes it. */
  readonly reference?: string;
  /** Oldest first. */
  readonly events: readonly {
    /** What happened. Clients must expect further values. */
    readonly type: 'placed' | 'cancelled' | 'shipped' | (string & {});
    /** When the store recorded it. */
    readonly at: string;
    /** The revision of the store with this event. */
    readonly revision: bigint;
    /** Why the order was cancelled. */
    readonly reason?: string;
    /** The carrier's number of the shipment. */
    readonly trackingNumber?: string;
    /** The id of the API key; absent if an operator of the store made the change. */
    readonly by?: string;
    /** The name of the API key, as the operators have given it; only for keys with `changes:read`. */
    readonly byName?: string;
  }[];
  /** The cursor of the next page; absent on the last page. */
  readonly next?: string;
}

/** A change of an order. */
export interface Change {
  /** The revision of the store; several changes can share one. */
  readonly revision: bigint;
  /** What happened. Clients must expect further values. */
  readonly type: 'placed' | 'cancelled' | 'shipped' | (string & {});
  /** When the store recorded the change. */
  readonly at: string;
  /** The id of the API key; absent if an operator of the store made the change. */
  readonly by?: string;
  readonly order: OrderRecord;
}

/** A page of changes. */
export interface ChangePage {
  /** In order of revision, then order id. */
  readonly changes: readonly Change[];
  /** The cursor after these changes; always present. */
  readonly next: string;
  /** Whether the store had more changes after this page. */
  readonly more: boolean;
  /** The current revision of the store. */
  readonly revision: bigint;
  /** The head of the history up to `revision`, in 64 hexadecimal digits: responses with the same head show the same state. */
  readonly head: string;
}

/** What is sent to the endpoint of a webhook. */
export interface Delivery {
  /** The cursor that the delivery continues from: the `next` of the one before. */
  readonly after: string;
  /** In order of revision, then order id; none in a test. */
  readonly changes: readonly Change[];
  /** The cursor after these changes. */
  readonly next: string;
  /** Whether the store had more changes when the delivery was sent. */
  readonly more: boolean;
  /** The revision of the store when the delivery was sent. */
  readonly revision: bigint;
  /** The head of the history up to `revision`, in 64 hexadecimal digits. */
  readonly head: string;
}

/** The number of orders that match. */
export interface OrderCounts {
  /** Orders by status. */
  readonly counts: {
    /** Neither shipped nor cancelled. */
    readonly pending: bigint;
    /** Shipped. */
    readonly shipped: bigint;
    /** Cancelled. */
    readonly cancelled: bigint;
  };
  /** If false, not all orders were examined: at least as many match. */
  readonly exact: boolean;
  /** The revision of the store that was counted. */
  readonly revision: bigint;
  /** The head of the history up to `revision`, in 64 hexadecimal digits. */
  readonly head: string;
}

/** The store, and how many orders it has. */
export interface Store {
  /** The name that the operators have given the store; absent if they have not. */
  readonly name?: string;
  /** `production`, where orders are real, or `staging`. Clients must expect further values. */
  readonly environment: 'production' | 'staging' | (string & {});
  /** The time of the service. */
  readonly time: string;
  /** All orders, by status. */
  readonly counts: {
    /** Neither shipped nor cancelled. */
    readonly pending: bigint;
    /** Shipped. */
    readonly shipped: bigint;
    /** Cancelled. */
    readonly cancelled: bigint;
  };
  /** Whether a failover of the database can lose acknowledged changes, because its standby is asynchronous; configured by the
operators. If true, clients that keep an exact copy must handle 410 `changes_gone`. */
  readonly canLoseChanges: boolean;
  /** The current revision of the store. */
  readonly revision: bigint;
  /** The head of the history up to `revision`, in 64 hexadecimal digits: responses with the same head show the same state. */
  readonly head: string;
  /** The cursor with which listChanges returns the changes since then: its `after`. */
  readonly changesAfter: string;
}

/** The number of placed, cancelled and shipped orders in each period. */
export interface Activity {
  /** One for each two consecutive boundaries. */
  readonly periods: readonly {
    /** Start of the period, inclusive. */
    readonly from: string;
    /** End of the period, exclusive. */
    readonly before: string;
    /** Orders that were placed. */
    readonly placed: bigint;
    /** Orders that were cancelled. */
    readonly cancelled: bigint;
    /** Orders that were shipped. */
    readonly shipped: bigint;
  }[];
  /** The counts of all periods together, by the key that made the changes; those with most changes first. */
  readonly byKey: readonly {
    /** The id of the API key; absent for the operators of the store. */
    readonly by?: string;
    /** The name of the API key, as the operators have given it. */
    readonly byName?: string;
    /** Orders that it placed. */
    readonly placed: bigint;
    /** Orders that it cancelled. */
    readonly cancelled: bigint;
    /** Orders that it shipped. */
    readonly shipped: bigint;
  }[];
  /** The cursor to continue the count; absent when all events are counted. */
  readonly next?: string;
  /** The revision of the store up to which changes are counted. */
  readonly revision: bigint;
  /** The head of the history up to `revision`, in 64 hexadecimal digits: responses with the same head show the same state. */
  readonly head: string;
}

/** An API key, without its secret. */
export interface Key {
  /** The id of the key, which histories have as `by`. */
  readonly id: string;
  /** The name that the operators have given it. */
  readonly name: string;
  /** Where it is valid. Clients must expect further values. */
  readonly environment: 'production' | 'staging' | (string & {});
  /** What it may do. Clients must expect further values. */
  readonly scopes: readonly (
    | 'orders:read'
    | 'orders:place'
    | 'orders:cancel'
    | 'orders:ship'
    | 'changes:read'
    | 'webhooks:manage'
    | 'webhooks:manage-all'
    | 'keys:manage'
    | (string & {})
  )[];
  /** How many orders it may cancel in any hour; absent without a limit. */
  readonly cancelsPerHour?: bigint;
  /** How many orders it may place in any hour; absent without a limit. */
  readonly placesPerHour?: bigint;
  /** When it ends, or this secret of it, if another one has replaced it; absent if neither ends. */
  readonly expiresAt?: string;
}

/** An API key as those see it who manage keys, without its secret. */
export interface ManagedKey {
  /** The id of the key, which histories have as `by`. */
  readonly id: string;
  /** Its name, for people. */
  readonly name: string;
  /** Where it is valid. Clients must expect further values. */
  readonly environment: 'production' | 'staging' | (string & {});
  /** `valid`: it can be used, or its invitation redeemed. Clients must expect further values. */
  readonly state: 'valid' | 'expired' | 'revoked' | (string & {});
  /** What it may do. Clients must expect further values. */
  readonly scopes: readonly (
    | 'orders:read'
    | 'orders:place'
    | 'orders:cancel'
    | 'orders:ship'
    | 'changes:read'
    | 'webhooks:manage'
    | 'webhooks:manage-all'
    | 'keys:manage'
    | (string & {})
  )[];
  /** How many orders it may cancel in any hour; absent without a limit. */
  readonly cancelsPerHour?: bigint;
  /** How many orders it may place in any hour; absent without a limit. */
  readonly placesPerHour?: bigint;
  /** When it was created. */
  readonly createdAt: string;
  /** The id of the API key that has created it; absent if an operator has. */
  readonly createdBy?: string;
  /** When it was used last, to the hour; absent before its first use. */
  readonly lastUsedAt?: string;
  /** When it ends; absent if it does not. */
  readonly expiresAt?: string;
  /** When it was revoked; absent if it was not. */
  readonly revokedAt?: string;
  /** When the secret before the present one ends; absent if there is none. */
  readonly formerSecretUntil?: string;
  /** When the secret before was used last since it was replaced, to the hour; absent if it was not. */
  readonly formerSecretLastUsedAt?: string;
  /** Until when its invitation can be redeemed, also once that time has passed; absent without one. */
  readonly invitedUntil?: string;
  /** How many webhooks it has created that exist. */
  readonly webhooks: bigint;
}

/** A page of API keys. */
export interface KeyList {
  /** The keys, the oldest first. */
  readonly keys: readonly ManagedKey[];
  /** How many keys there are in each state, whatever the page and the parameter `state`. */
  readonly counts: {
    /** Keys that can be used. */
    readonly valid: bigint;
    /** Keys whose time has ended. */
    readonly expired: bigint;
    /** Keys that were revoked. */
    readonly revoked: bigint;
  };
  /** The cursor of the next page; absent on the last page. */
  readonly next?: string;
}

/** An API key with its secret or its invitation, which no other operation returns. */
export interface KeySecret {
  /** The key. */
  readonly key: ManagedKey;
  /** The secret, for `Authorization: Bearer`; absent with an invitation, and in a repetition after an hour. */
  readonly secret?: string;
  /** The ticket of the invitation, for `Authorization: Bearer` of redeemInvitation; absent without one, and in a repetition after an hour. */
  readonly invitation?: string;
}

/** The API key of an invitation with its secret, which no other operation returns. */
export interface OwnKeySecret {
  /** The key. */
  readonly key: Key;
  /** The secret, for `Authorization: Bearer`. */
  readonly secret: string;
}

/** An API key to create. */
export interface NewKey {
  /** Its name, such as its user or purpose. */
  readonly name: string;
  /** What it may do. */
  readonly scopes: readonly (
    | 'orders:read'
    | 'orders:place'
    | 'orders:cancel'
    | 'orders:ship'
    | 'changes:read'
    | 'webhooks:manage'
    | 'webhooks:manage-all'
    | 'keys:manage'
  )[];
  /** How many orders it may cancel in any hour; as many as the API key of the request, if absent. */
  readonly cancelsPerHour?: bigint;
  /** How many orders it may place in any hour; as many as the API key of the request, if absent. */
  readonly placesPerHour?: bigint;
  /** When it ends; with the API key of the request, if absent. */
  readonly expiresAt?: string;
  /** Whether a person is invited, and so makes the secret. */
  readonly invitation?: boolean;
}

/** What to change in an API key, as a JSON Merge Patch (RFC 7396): absent fields stay as they are. */
export interface KeyChanges {
  /** Its name, such as its user or purpose. */
  readonly name?: string;
  /** What it may do; some of what it could do before. */
  readonly scopes?: readonly (
    | 'orders:read'
    | 'orders:place'
    | 'orders:cancel'
    | 'orders:ship'
    | 'changes:read'
    | 'webhooks:manage'
    | 'webhooks:manage-all'
    | 'keys:manage'
  )[];
  /** How many orders it may cancel in any hour; no more than before. */
  readonly cancelsPerHour?: bigint;
  /** How many orders it may place in any hour; no more than before. */
  readonly placesPerHour?: bigint;
  /** When it ends; null for never, if that holds for the API key of the request, too. */
  readonly expiresAt?: string | null;
  /** Ends the secret before the present one. */
  readonly formerSecretUntil?: null;
}

/** How to replace a secret. */
export interface KeyRotation {
  /** How long the secret before stays valid, in seconds; 86400 by default. Ignored with `invitation`. */
  readonly overlapSeconds?: bigint;
  /** Whether a person is invited, and so makes the secret. */
  readonly invitation?: boolean;
}

/** An endpoint that changes are sent to, and its position in the feed. */
export interface Webhook {
  /** Unique identifier. */
  readonly id: string;
  /** Where deliveries are sent. Of a webhook that the API key may not change, only scheme and host, since paths can have secrets. */
  readonly url: string;
  /** For people. */
  readonly description?: string;
  /** The types of the changes that are sent; absent for all. */
  readonly types?: readonly ('placed' | 'cancelled' | 'shipped' | (string & {}))[];
  /** The pets whose changes are sent; absent for all. */
  readonly petIds?: readonly bigint[];
  /** `failing`: the last delivery was not accepted and will be repeated. Clients must expect further values. */
  readonly state: 'active' | 'failing' | 'paused' | (string & {});
  /** Why it is paused: on request; because its endpoint has accepted nothing for three days and 50 failures, or has answered 410; or because its position is in no history of the store any more, after a restore, so that `after` must be set. Clients must expect further values. */
  readonly pauseReason?: 'requested' | 'failed' | 'gone' | 'changes_gone' | (string & {});
  /** Its position in the feed: everything up to this cursor was delivered. */
  readonly after: string;
  /** What it has not delivered yet. */
  readonly lag?: {
    /** How many changes of the store are not delivered or examined yet, whether it wants them or not; at most 1,000 are counted. */
    readonly count: bigint;
    /** When the first of them was made; absent without one. */
    readonly since?: string;
  };
  /** How often the current delivery has failed. */
  readonly failures: bigint;
  /** When the current delivery is repeated, if it has failed. */
  readonly nextAttemptAt?: string;
  /** When a delivery was accepted last. */
  readonly lastSuccessAt?: string;
  /** The last delivery that was not accepted. */
  readonly lastFailure?: {
    /** When it was sent. */
    readonly at: string;
    /** The status that the endpoint has answered; only for the API key that created the webhook. */
    readonly status?: bigint;
    /** Why there was no answer; only for the API key that created the webhook. */
    readonly problem?: string;
  };
  /** When it was created. */
  readonly createdAt: string;
  /** Id of the API key that created it; absent if an operator has. */
  readonly createdBy?: string;
  /** When its secret was rotated last. */
  readonly secretRotatedAt?: string;
}

/** A page of webhooks. */
export interface WebhookList {
  /** The webhooks, the oldest first; a store has at most 1,000. */
  readonly webhooks: readonly Webhook[];
  /** The cursor of the next page; absent on the last page. */
  readonly next?: string;
}

/** A webhook with its secret, which no other operation returns. */
export interface WebhookSecret {
  /** The webhook. */
  readonly webhook: Webhook;
  /** `whsec_` and Base64, as libraries of Standard Webhooks take it. */
  readonly secret: string;
}

/** A webhook to create. */
export interface NewWebhook {
  /** Where deliveries are sent, by https. */
  readonly url: string;
  /** For people. */
  readonly description?: string;
  /** The types of the changes to send; all if absent. */
  readonly types?: readonly ('placed' | 'cancelled' | 'shipped')[];
  /** The pets whose changes to send; all if absent. */
  readonly petIds?: readonly bigint[];
  /** A cursor of changes after which deliveries begin, `start` for the first change in the store, or `now` for new changes only; `now` by default. */
  readonly after?: string;
}

/** What to change in a webhook, as a JSON Merge Patch (RFC 7396): absent fields stay as they are, and null removes what can be absent. */
export interface WebhookChanges {
  /** Where deliveries are sent, by https. */
  readonly url?: string;
  /** For people; null for none. */
  readonly description?: string | null;
  /** The types of the changes to send; null for all. */
  readonly types?: readonly ('placed' | 'cancelled' | 'shipped')[] | null;
  /** The pets whose changes to send; null for all. */
  readonly petIds?: readonly bigint[] | null;
  /** `paused` ends deliveries, `active` resumes those of a paused webhook at once; one that is failing is repeated when it is due. */
  readonly state?: 'active' | 'paused';
  /** A cursor of changes after which deliveries continue, `start` for the first change in the store, or `now` for new changes only. */
  readonly after?: string;
}

/** This operation takes no details yet. */
export interface NoDetails extends Readonly<Record<string, never>> {}

/** The outcome of a test. */
export interface WebhookTest {
  /** Whether the endpoint has answered 2xx. */
  readonly accepted: boolean;
  /** The status that the endpoint has answered; only for the API key that created the webhook. */
  readonly status?: bigint;
  /** Why there was no answer; only for the API key that created the webhook. */
  readonly problem?: string;
  /** How long the answer took, in milliseconds. */
  readonly durationMs: bigint;
}

/** What went wrong. */
export interface ErrorRecord {
  /** Machine-readable error code; the documentation explains each. Clients must expect further values. */
  readonly code: ErrorCode;
  /** Human-readable description. */
  readonly message: string;
  /** The HTTP status code. */
  readonly status: bigint;
  /** Only in a 409: the order, if the same API key has already cancelled it (for a cancel) or shipped it (for a shipment). After
a lost response, this is the result of the first request. */
  readonly order?: OrderRecord;
  /** The problems of the request, up to 100; only in a 400, a 403 `exceeds_own_key` and a 409 `orders_not_changed`. */
  readonly errors?: readonly {
    /** The name of a parameter or header. */
    readonly parameter?: string;
    /** A JSON pointer (RFC 6901) into the body; a long one is cut. */
    readonly pointer?: string;
    /** Only of `orders_not_changed`, the id of the order. */
    readonly id?: bigint;
    /** Only of `orders_not_changed`, the code that the request for this order alone would have. */
    readonly code?: string;
    /** A description of the problem. */
    readonly detail: string;
  }[];
}

/** The error codes of this release of the contracts; a service may send others. */
export type ErrorCode =
  | 'bad_request'
  | 'api_key_missing'
  | 'api_key_malformed'
  | 'api_key_invalid'
  | 'api_key_expired'
  | 'api_key_revoked'
  | 'api_key_wrong_environment'
  | 'scope_missing'
  | 'not_found'
  | 'order_not_found'
  | 'order_already_cancelled'
  | 'invalid_order_id'
  | 'pet_not_found'
  | 'invalid_pet_id'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'order_already_shipped'
  | 'pet_lookup_gone'
  | 'body_too_large'
  | 'uri_too_long'
  | 'expectation_failed'
  | 'order_changed'
  | 'precondition_failed'
  | 'cancel_limit_reached'
  | 'headers_too_large'
  | 'internal_error'
  | 'store_unavailable'
  | 'http_version_not_supported'
  | 'parameter_invalid'
  | 'body_invalid'
  | 'cursor_invalid'
  | 'idempotency_key_missing'
  | 'exceeds_own_key'
  | 'orders_not_changed'
  | 'reference_taken'
  | 'webhook_not_found'
  | 'key_not_found'
  | 'webhook_url_taken'
  | 'webhook_limit_reached'
  | 'too_many_webhooks'
  | 'too_many_keys'
  | 'key_ended'
  | 'last_key_manager'
  | 'no_invitation'
  | 'webhooks_unavailable'
  | 'too_many_tests'
  | 'changes_gone'
  | 'webhook_changed'
  | 'key_changed'
  | 'reference_differs'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'place_limit_reached'
  | 'key_change_limit_reached'
  | 'read_limit_reached'
  | 'too_many_streams'
  | 'stream_limit_reached'
  | 'no_ids_left'
  | (string & {});
