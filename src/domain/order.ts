import { formatTimestamp } from './timestamp.ts';

/** An int64. Never a JavaScript number: 9007199254740993 and 9007199254740992 are different orders. */
export type OrderId = bigint;

export const ORDER_STATUSES = ['pending', 'shipped', 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** An order as stored. A field without a value is undefined, never null. */
export interface Order {
  readonly id: OrderId;
  readonly status: OrderStatus;
  /** int64 */
  readonly petId?: bigint | undefined;
  /** Units ordered: a non-negative int64. */
  readonly quantity?: bigint | undefined;
  /** Expected or actual ship date, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly shipDate?: number | undefined;
  readonly complete?: boolean | undefined;
  /** The name that an integrator has given the order; never changes. See `isReference`. */
  readonly reference?: string | undefined;
  /** Why the order was cancelled; only cancelled orders have one. See `isReason`. */
  readonly reason?: string | undefined;
  /** The carrier's number of the shipment; only shipped orders have one. See `isTrackingNumber`. */
  readonly trackingNumber?: string | undefined;
}

/** An order with what the store has recorded about it. */
export interface OrderRecord extends Order {
  /** Milliseconds since the epoch. */
  readonly placedAt: number;
  /** Time of the latest change, in milliseconds since the epoch. */
  readonly updatedAt: number;
  /** The store's revision after the latest change. */
  readonly revision: bigint;
}

/** An order whose id may be left to the store. */
export type OrderDraft = Omit<Order, 'id'> & { readonly id?: OrderId | undefined };

/** Returns a test for texts of 1 to `most` characters, none of them a control character or half of a surrogate pair. */
function isTextUpTo(most: number): (text: string) => boolean {
  const pattern = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${most}}$`, 'u');
  return (text) => pattern.test(text);
}

/** Whether a text can be a reference. */
export const isReference = isTextUpTo(255);
/** Whether a text can be the reason of a cancel. */
export const isReason = isTextUpTo(64);
/** Whether a text can be a tracking number. */
export const isTrackingNumber = isTextUpTo(128);

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

export function isInt64(value: bigint): boolean {
  return value >= INT64_MIN && value <= INT64_MAX;
}

/** Canonical decimal only, so that every id has one spelling: no sign but "-", no leading zero, no "-0". */
const CANONICAL_INTEGER = /^(?:0|-?[1-9][0-9]{0,18})$/;

/** Parses an int64 in canonical spelling; returns undefined for any other text. */
export function parseInt64(text: string): bigint | undefined {
  if (!CANONICAL_INTEGER.test(text)) return undefined;
  const value = BigInt(text);
  return isInt64(value) ? value : undefined;
}

/**
 * Formats an order as the contract's Order record: the five fields of v1 in the contract's order, without the fields
 * that have no value, int64 as plain JSON integers. Pure ASCII.
 */
export function orderJson(order: Order): string {
  let json = `{"id":${order.id}`;
  if (order.petId !== undefined) json += `,"petId":${order.petId}`;
  if (order.quantity !== undefined) json += `,"quantity":${order.quantity}`;
  if (order.shipDate !== undefined) json += `,"shipDate":"${formatTimestamp(order.shipDate)}"`;
  if (order.complete !== undefined) json += `,"complete":${order.complete}`;
  return `${json}}`;
}

/** Compares by id, for sorting. */
export function byId(a: Pick<Order, 'id'>, b: Pick<Order, 'id'>): number {
  return a.id < b.id ? -1 : 1;
}

/** Returns the names of the fields in which two orders differ; empty if they are equal. */
export function differingFields(a: Order, b: Order): string[] {
  return COMPARED.filter((field) => a[field] !== b[field]);
}

const COMPARED = [
  ...(['id', 'petId', 'quantity', 'shipDate'] as const),
  ...(['complete', 'status', 'reference', 'reason', 'trackingNumber'] as const),
];

/** A pet as stored. A field without a value is undefined, never null. */
export interface Pet {
  /** int64 */
  readonly id: bigint;
  readonly name?: string | undefined;
  readonly tag?: string | undefined;
}
