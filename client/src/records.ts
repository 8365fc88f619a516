// Made from the contracts by "npm run records". Integers are bigint, times RFC 3339 in UTC with milliseconds.

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
  /** The name that the integrator has given the order; it never changes. */
  readonly reference?: string;
  /** A pending order can become shipped or cancelled; shipped and cancelled orders never change again. */
  readonly status: 'pending' | 'shipped' | 'cancelled' | (string & {});
  /** When the store recorded the order. */
  readonly placedAt: string;
  /** When the store recorded the latest change of the order. */
  readonly updatedAt: string;
  /** The revision of the latest change; the revision of the store increases with every transaction that changes an order. */
  readonly revision: bigint;
}

/** The order to place. */
export interface NewOrder {
  /** Identifier of the animal. */
  readonly petId: bigint;
  /** Number of units. */
  readonly quantity: bigint;
  /** Expected ship date, with an offset. */
  readonly shipDate?: string;
  /** A name of your own for the order, without control characters; unique among the orders of the API key. */
  readonly reference?: string;
}

/** How the order was shipped. */
export interface Shipment {
  /** When the order was shipped; by default the current time. */
  readonly shippedAt?: string;
}

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
  /** A cursor for listChanges: returns the changes since this page. */
  readonly changes: string;
}

/** An order that is to be changed. */
export interface OrderToChange {
  /** Unique order identifier. */
  readonly id: bigint;
  /** The ETag that the order must still have; as in If-Match. */
  readonly etag?: string;
  /** The reference that the order must have; as in If-Reference-Match, but not encoded. */
  readonly reference?: string;
}

/** Orders to cancel. */
export interface Cancellations {
  /** The orders, each once. */
  readonly orders: readonly OrderToChange[];
  /** Whether either all orders are changed or none; false by default. */
  readonly atomic?: boolean;
}

/** Orders to ship. */
export interface Shipments {
  /** The orders, each once. */
  readonly orders: readonly OrderToChange[];
  /** Whether either all orders are changed or none; false by default. */
  readonly atomic?: boolean;
  /** When the orders were shipped; by default the current time. */
  readonly shippedAt?: string;
}

/** What became of several orders. */
export interface ChangeResults {
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
  /** The name that the integrator has given the order; it never changes. */
  readonly reference?: string;
  /** Oldest first. */
  readonly events: readonly {
    /** What happened. */
    readonly type: 'placed' | 'cancelled' | 'shipped' | (string & {});
    /** When the store recorded it. */
    readonly at: string;
    /** The revision of the store with this event. */
    readonly revision: bigint;
    /** The id of the API key; absent if an operator of the store made the change. */
    readonly by?: string;
  }[];
}

/** A change of an order. */
export interface Change {
  /** The revision of the store; several changes can share one. */
  readonly revision: bigint;
  /** What happened. */
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

/** The number of orders in the store. */
export interface Summary {
  /** The current revision of the store. */
  readonly revision: bigint;
  /** The head of the history up to `revision`, in 64 hexadecimal digits: responses with the same head show the same state. */
  readonly head: string;
  /** Orders by status. */
  readonly orders: {
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
  /** The cancels in all periods, by the key that made them, most first. */
  readonly cancels: readonly {
    /** The id of the API key; absent for the operators of the store. */
    readonly by?: string;
    /** The name of the API key, as the operators have given it. */
    readonly name?: string;
    /** Orders that were cancelled. */
    readonly cancelled: bigint;
  }[];
  /** The cursor to continue the count; absent when all events are counted. */
  readonly next?: string;
  /** The revision of the store up to which changes are counted. */
  readonly revision: bigint;
  /** The head of the history up to `revision`, in 64 hexadecimal digits: responses with the same head show the same state. */
  readonly head: string;
}

/** What went wrong. */
export interface ErrorRecord {
  /** Machine-readable error code; docs/errors.md of the service explains each. */
  readonly code: ErrorCode;
  /** Human-readable description. */
  readonly message: string;
  /** The HTTP status code. */
  readonly status: bigint;
  /** Only in a 409: the order, if the same API key has already cancelled it (for a cancel) or shipped it (for a shipment). After
a lost response, this is the result of the first request. */
  readonly order?: OrderRecord;
  /** The problems of the request, up to 100; only in a 400, and in a 409 `orders_not_changed`. */
  readonly errors?: readonly {
    /** The name of a parameter or header. */
    readonly parameter?: string;
    /** A JSON pointer (RFC 6901) into the body. */
    readonly pointer?: string;
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
  | 'cancel_limit_reached'
  | 'headers_too_large'
  | 'internal_error'
  | 'store_unavailable'
  | 'http_version_not_supported'
  | 'parameter_invalid'
  | 'body_invalid'
  | 'cursor_invalid'
  | 'idempotency_key_missing'
  | 'orders_not_changed'
  | 'reference_taken'
  | 'changes_gone'
  | 'order_changed'
  | 'reference_differs'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'too_many_streams'
  | 'no_ids_left'
  | (string & {});
