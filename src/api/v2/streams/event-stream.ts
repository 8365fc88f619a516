import type { Moment } from '../../../orders/heads.ts';
import { type ChangePage, positionAfter } from '../../../store/feed.ts';
import { feedCursor } from '../../../store/feed-cursor.ts';
import { changesJson } from '../records.ts';

/** How long a client should wait before it reconnects, in milliseconds. */
const RETRY_MS = 1_000;

/** Returns the events after a revision, as bytes that streams share. */
export type EventsSince = (revision: bigint) => Buffer;

/** The first bytes of a stream: a client that is disconnected before the first event resumes here. */
export function openingBytes(position: Moment): Buffer {
  return Buffer.from(`retry: ${RETRY_MS}\nid: ${feedCursor(position)}\n\n`);
}

/** A comment, which clients ignore. */
export const HEARTBEAT = Buffer.from(':\n\n');

/**
 * Formats the changes of a page by https://html.spec.whatwg.org/multipage/server-sent-events.html. Only the last
 * event of a revision has an id.
 */
export async function eventsOf({ changes }: ChangePage): Promise<EventsSince> {
  const records = await changesJson(changes);
  const frames: { readonly revision: bigint; readonly bytes: Buffer }[] = [];
  let events: string[] = [];
  for (const [index, change] of changes.entries()) {
    const { type, order } = change;
    const isLast = changes[index + 1]?.order.revision !== order.revision;
    const id = isLast ? `id: ${feedCursor(positionAfter(change))}\n` : '';
    events.push(`${id}event: ${type}\ndata: ${records[index]}\n\n`);
    if (isLast) {
      frames.push({ revision: order.revision, bytes: Buffer.from(events.join('')) });
      events = [];
    }
  }
  const all = Buffer.concat(frames.map(({ bytes }) => bytes));
  return (since) => {
    if (frames.length === 0 || since < frames[0]!.revision) return all;
    const later = frames.filter(({ revision }) => revision > since);
    return Buffer.concat(later.map(({ bytes }) => bytes));
  };
}

/** Headers of the response to a stream request. */
export const HEADERS = [
  ...['content-type', 'text/event-stream'],
  ...['cache-control', 'no-store'],
  // nginx would buffer the events otherwise.
  ...['x-accel-buffering', 'no'],
];
