import { createHash } from 'node:crypto';
import type { OrderChange } from './change.ts';
import type { OrderEventType } from './lifecycle.ts';
import { type Order, parseInt64 } from './order.ts';
import { formatTimestamp } from './timestamp.ts';

/**
 * A head names a state of a store by everything that led to it: SHA-256 of the head before and of the changes of a revision,
 * 32 bytes. Two stores with the same head have the same history. Format 1; see decision 045.
 */
export type Head = Uint8Array;

/** The head of a store at revision 0. */
export const FIRST_HEAD: Head = new Uint8Array(32);

/** A history up to a revision. */
export interface HistoryEnd {
  readonly revision: bigint;
  readonly head: Head;
}

export const NO_HISTORY: HistoryEnd = { revision: 0n, head: FIRST_HEAD };

/** Formats a head in lower-case hexadecimal digits, 64 of them. */
export function headText(head: Head): string {
  return Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('hex');
}

/** Returns the head that `headText` has written. */
export function headFrom(text: string): Head {
  return Buffer.from(text, 'hex');
}

/** A state of a store, and so a position in its feed: everything up to the revision. */
export interface Moment {
  readonly revision: bigint;
  /** As `headText` writes it. */
  readonly head: string;
}

/** The moment before the first change. */
export const BEGINNING: Moment = { revision: 0n, head: headText(FIRST_HEAD) };

export function isSameMoment(one: Moment, other: Moment): boolean {
  return one.revision === other.revision && one.head === other.head;
}

/** Formats a moment as REVISION-HEAD. */
export function momentText({ revision, head }: Moment): string {
  return `${revision}-${head}`;
}

/** Formats the end of a history as REVISION-HEAD. */
export function endText({ revision, head }: HistoryEnd): string {
  return momentText({ revision, head: headText(head) });
}

/** Parses REVISION-HEAD; returns undefined for any other text. */
export function parseMoment(text: string): Moment | undefined {
  const match = /^(\d+)-([0-9a-f]{64})$/.exec(text);
  const revision = match === null ? undefined : parseInt64(match[1]!);
  return revision === undefined ? undefined : { revision, head: match![2]! };
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

/**
 * Returns the line of an event, as it is hashed: a JSON array of type, at, by, id, petId, quantity, shipDate, complete, status and
 * reference, without spaces and with a line feed. What is absent is null.
 */
export function eventLine({ type, at, by, order }: ChainedEvent): string {
  const { id, petId, quantity, shipDate, complete, status, reference } = order;
  const author = by === undefined ? null : JSON.stringify(by);
  const name = reference === undefined ? null : JSON.stringify(reference);
  const shipped = shipDate === undefined ? null : `"${formatTimestamp(shipDate)}"`;
  const fields = `${id},${petId ?? null},${quantity ?? null},${shipped},${complete ?? null}`;
  return `["${type}","${formatTimestamp(at)}",${author},${fields},"${status}",${name}]\n`;
}

/** Returns the digest of a revision. @param events in the order of the feed */
export function digestOf(events: readonly ChainedEvent[]): Uint8Array {
  let lines = '';
  for (const event of events) lines += eventLine(event);
  return sha256(lines);
}

/** Returns the head after a revision. @param digest of the revision */
export function headAfter(before: Head, digest: Uint8Array): Head {
  return sha256(Buffer.concat([before, digest]));
}

/** Returns the moment after changes, computed from the one before. @param changes of whole revisions, in the order of the feed */
export function momentAfter(from: Moment, changes: readonly OrderChange[]): Moment {
  let head = headFrom(from.head);
  for (const revision of Map.groupBy(changes, ({ order }) => order.revision).values()) {
    const events = revision.map(({ type, by, order }) => ({
      type,
      by,
      order,
      at: order.updatedAt,
    }));
    head = headAfter(head, digestOf(events));
  }
  return { revision: changes.at(-1)?.order.revision ?? from.revision, head: headText(head) };
}

function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest();
}
