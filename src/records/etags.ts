import type { Position } from '../../protocol/history.ts';
import type { OrderId, OrderRecord } from '../domain/order.ts';

/** Digits of a head in an ETag: 64 bits. */
const DIGITS = 16;

/** One entity-tag per content coding: RFC 9110, section 8.8.3.3. */
export interface CodedEtags {
  readonly identity: string;
  readonly gzip: string;
}

/**
 * Returns the ETags of a response that depends only on the state of the store, and on the end of its page. No two states of a store have the same.
 * @param end the last id of a page that is not the last
 */
export function storeEtags({ revision, head }: Position, end?: OrderId): CodedEtags {
  const state = `${revision}-${head.slice(0, DIGITS)}`;
  const name = end === undefined ? state : `${state}-${end}`;
  return { identity: `"${name}"`, gzip: `"${name}-gzip"` };
}

/**
 * Identifies a state of an order, even across restores of the store. The status is part of it, since one revision can place an order and change
 * it.
 * @param variant distinguishes representations of the same state
 */
export function orderEtag({ revision, updatedAt, status }: OrderRecord, variant = ''): string {
  return `"${revision}-${updatedAt.toString(36)}-${status}${variant}"`;
}
