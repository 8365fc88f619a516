import { changeJson, type OrderChange } from '../../orders/change.ts';
import { type ChangePage, type FeedPosition, positionBehind } from '../../store/feed.ts';
import { feedCursor } from '../../store/feed-cursor.ts';

/** How long a client should wait before it reconnects, in milliseconds. */
const RETRY_MS = 1_000;

/** Returns the events after a revision, as bytes that streams share. */
export type EventsSince = (revision: bigint) => Buffer;

/** The first bytes of a stream: a client that is disconnected before the first event resumes here. */
export function openingBytes(position: FeedPosition): Buffer {
  return Buffer.from(`retry: ${RETRY_MS}\nid: ${feedCursor(position)}\n\n`);
}

/** A comment, which clients ignore. */
export const HEARTBEAT = Buffer.from(':\n\n');

/**
 * Formats the changes of a page as https://html.spec.whatwg.org/multipage/server-sent-events.html has it. Only the last
 * event of a revision has an id.
 */
export function eventsOf({ changes, position }: ChangePage): EventsSince {
  const revisions = [...Map.groupBy(changes, ({ order }) => order.revision)];
  const frames = revisions.map(([revision, alike]) => {
    const cursor = feedCursor(positionBehind(position.storeId, alike));
    const events = alike.map(eventOf);
    events.push(`id: ${cursor}\n${events.pop()}`);
    return { revision, bytes: Buffer.from(events.join('')) };
  });
  const all = Buffer.concat(frames.map(({ bytes }) => bytes));
  return (since) => {
    if (frames.length === 0 || since < frames[0]!.revision) return all;
    const later = frames.filter(({ revision }) => revision > since);
    return Buffer.concat(later.map(({ bytes }) => bytes));
  };
}

function eventOf(change: OrderChange): string {
  return `event: ${change.type}\ndata: ${changeJson(change)}\n\n`;
}
