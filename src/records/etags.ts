import type { Position } from '../../protocol/history.ts';
import type { OrderRecord } from '../domain/order.ts';

/** Digits of a head in an ETag: 64 bits. */
const DIGITS = 16;

/** Returns the name of a position in ETags; no two states of a store have the same. */
export function etagName({ revision, head }: Position): string {
  return `${revision}-${head.slice(0, DIGITS)}`;
}

/**
 * Identifies a state of an order, even across restores of the store. The status is part of it, since one revision can place an order and change
 * it.
 * @param variant distinguishes representations of the same state
 */
export function orderEtag({ revision, updatedAt, status }: OrderRecord, variant = ''): string {
  return `"${revision}-${updatedAt.toString(36)}-${status}${variant}"`;
}
