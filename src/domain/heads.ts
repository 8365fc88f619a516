import { hash } from 'node:crypto';
import { eventLine, type Position } from '../../protocol/history.ts';
import type { OrderChange } from './change.ts';
import type { OrderEventType } from './lifecycle.ts';
import type { Order } from './order.ts';
import { formatTimestamp } from './timestamp.ts';

/** A head is the hash of a store's whole history up to a revision, 32 bytes; see protocol/history.ts. */
export type Head = Uint8Array;

/** Formats a head in lower-case hexadecimal digits, 64 of them. */
export function headText(head: Head): string {
  return Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('hex');
}

export function headFrom(text: string): Head {
  return Buffer.from(text, 'hex');
}

/** An event, with the order as it was after it. */
export interface ChainedEvent {
  readonly type: OrderEventType;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Id of the API key; undefined for operators. */
  readonly by: string | undefined;
  readonly order: Order;
}

/** Returns the line of an event, as it is hashed. @param time that of the event, if it was formatted before */
export function lineOf(
  { type, at, by, order }: ChainedEvent,
  time: string = formatTimestamp(at),
): string {
  const shipDate = order.shipDate === undefined ? undefined : formatTimestamp(order.shipDate);
  return eventLine({ type, at: time, by, shipDate, order });
}

/** Returns the digest of a revision. @param events in the order of the feed */
export function eventsDigest(events: readonly ChainedEvent[]): Uint8Array {
  let lines = '';
  // All events of a revision have the same time, unless a row was changed by hand.
  let at = events[0]?.at ?? 0;
  let time = formatTimestamp(at);
  for (const event of events) {
    if (event.at !== at) {
      at = event.at;
      time = formatTimestamp(at);
    }
    lines += lineOf(event, time);
  }
  return sha256(lines);
}

/** Returns the head after a revision. @param digest of the revision */
export function headAfter(before: Head, digest: Uint8Array): Head {
  return sha256(Buffer.concat([before, digest]));
}

/** Returns the position after changes, computed from the one before. @param changes of whole revisions, in the order of the feed */
export function positionAfterChanges(from: Position, changes: readonly OrderChange[]): Position {
  let head = headFrom(from.head);
  for (const revision of Map.groupBy(changes, ({ order }) => order.revision).values()) {
    const events = revision.map((change) => ({ ...change, at: change.order.updatedAt }));
    head = headAfter(head, eventsDigest(events));
  }
  return { revision: changes.at(-1)?.order.revision ?? from.revision, head: headText(head) };
}

function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}
