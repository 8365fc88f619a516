// The history of a store is a chain of hashes (format 1, decision 045). A revision's head is the SHA-256 of the head before and the revision's
// digest; the digest is the SHA-256 of the lines of its events.

import type { Change, OrderRecord } from './generated/records.ts';

/** A point in the history of a store: everything up to a revision. */
export interface Position {
  readonly revision: bigint;
  /** The hash of the whole history up to the revision: 64 hexadecimal digits in lower case. */
  readonly head: string;
}

/** The position before the first change. */
export const BEGINNING: Position = { revision: 0n, head: '0'.repeat(64) };

/** Formats a position as REVISION-HEAD, the cursor of the feed. */
export function positionText({ revision, head }: Position): string {
  return `${revision}-${head}`;
}

const POSITION = /^(0|[1-9]\d{0,18})-([0-9a-f]{64})$/;
const MAX_REVISION = 2n ** 63n - 1n;

/** Parses REVISION-HEAD; returns undefined for any other text. */
export function parsePosition(text: string): Position | undefined {
  const [, digits, head] = POSITION.exec(text) ?? [];
  if (digits === undefined || head === undefined) return undefined;
  const revision = BigInt(digits);
  return revision > MAX_REVISION ? undefined : { revision, head };
}

export function isSamePosition(one: Position, other: Position): boolean {
  return one.revision === other.revision && one.head === other.head;
}

/** The status in which an order has a detail; in any other status it has none. */
export const STATUS_WITH = { reason: 'cancelled', trackingNumber: 'shipped' } as const;

/** An event, with the order as it was after it; times as the contract writes them. */
interface HistoryEvent extends Pick<Change, 'type' | 'at'> {
  /** Id of the API key; absent for operators. */
  readonly by?: string | undefined;
  readonly shipDate?: string | undefined;
  readonly order: Pick<
    OrderRecord,
    'id' | 'petId' | 'quantity' | 'complete' | 'status' | 'reference' | 'reason' | 'trackingNumber'
  >;
}

/**
 * Returns the line of an event, as it is hashed: a JSON array of type, at, by, id, petId, quantity, shipDate, complete, status and
 * reference, without spaces and with a line feed. An absent field is null. Of a cancelled order with a reason, or a shipped one with a tracking
 * number, that is one more element; other lines end with the reference, as all lines did before there were these fields (decision 057). The
 * element has no name, so `isProvable` must hold too.
 */
export function eventLine({ type, at, by, shipDate, order }: HistoryEvent): string {
  const { id, petId, quantity, complete, status, reference, reason, trackingNumber } = order;
  const detail =
    status === 'cancelled' ? reason : status === 'shipped' ? trackingNumber : undefined;
  const fields = `${id},${petId ?? null},${quantity ?? null},${json(shipDate)},${complete ?? null}`;
  const more = detail === undefined ? '' : `,${json(detail)}`;
  return `[${json(type)},${json(at)},${json(by)},${fields},${json(status)},${json(reference)}${more}]\n`;
}

/**
 * Returns whether a record has only what its line proves: the detail that its status names and no other, the same time and revision in the change
 * and in its order, and the time of the placement if the change is one. A verifier refuses any other record.
 */
export function isProvable({ type, at, revision, order }: Change): boolean {
  if (order.reason !== undefined && order.status !== STATUS_WITH.reason) return false;
  if (order.trackingNumber !== undefined && order.status !== STATUS_WITH.trackingNumber)
    return false;
  if (type === 'placed' && order.placedAt !== at) return false;
  return order.revision === revision && order.updatedAt === at;
}

function json(text: string | undefined): string {
  return text === undefined ? 'null' : JSON.stringify(text);
}
