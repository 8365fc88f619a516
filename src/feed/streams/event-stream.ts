import { type Position, positionText } from '../../../protocol/history.ts';
import type { OrderChange } from '../../domain/change.ts';
import { changesJson } from '../../records/order-json.ts';
import { type ChangePage, type FeedFilter, matches, positionAfter } from '../../store/feed.ts';

/** How long a client should wait before it reconnects, in milliseconds. */
const RETRY_MS = 1_000;

/** Returns the events after a revision as bytes; streams without a filter share them. */
type EventsSince = (revision: bigint, filter?: FeedFilter) => Buffer;

/** The first bytes of a stream: a client that is disconnected before the first event resumes here. */
export function openingBytes(position: Position): Buffer {
  return Buffer.from(`retry: ${RETRY_MS}\nid: ${positionText(position)}\n\n`);
}

/** A comment, which clients ignore. */
export const HEARTBEAT = Buffer.from(':\n\n');

/** Streams that keep up share their pages, so each is formatted once. */
const FORMATTED = new WeakMap<ChangePage, Promise<EventsSince>>();

/** Returns the events of a page. */
export function eventsOf(page: ChangePage): Promise<EventsSince> {
  const known = FORMATTED.get(page) ?? formatted(page);
  FORMATTED.set(page, known);
  return known;
}

/**
 * Formats the changes of a page by https://html.spec.whatwg.org/multipage/server-sent-events.html. Only the last
 * event of a revision has an id.
 */
async function formatted({ changes, position }: ChangePage): Promise<EventsSince> {
  const records = await changesJson(changes);
  const frames = changes.map((change, index) => ({ change, data: records[index]! }));
  const revisions = [...Map.groupBy(frames, ({ change }) => change.order.revision)].map(
    ([revision, events]) => ({
      ...{ revision, events },
      cursor: positionText(positionAfter(events.at(-1)!.change)),
    }),
  );
  const all = revisions.map(({ events, cursor }) => Buffer.from(framesOf(events, cursor)));
  const whole = Buffer.concat(all);
  /** By filter and revision: streams with the same filter share bytes, too. */
  const filtered = new Map<string, Buffer>();
  return (since, filter) => {
    const first = revisions.findIndex(({ revision }) => revision > since);
    if (first === -1) return NOTHING;
    if (filter === undefined) return first === 0 ? whole : Buffer.concat(all.slice(first));
    const { petIds, types, by } = filter;
    const name = [first, petIds, types, by].join(' ');
    const known = filtered.get(name);
    if (known !== undefined) return known;
    const frames = revisions.slice(first).map(({ events, cursor }) => {
      return framesOf(
        events.filter(({ change }) => matches(filter, change)),
        cursor,
      );
    });
    // The client resumes after the examined changes.
    if (frames.at(-1) === '') frames.push(`id: ${positionText(position)}\n\n`);
    const bytes = Buffer.from(frames.join(''));
    filtered.set(name, bytes);
    return bytes;
  };
}

const NOTHING = Buffer.alloc(0);

/** Returns the events of a revision, with an id on the last one; empty without events. */
function framesOf(
  events: readonly { readonly change: OrderChange; readonly data: string }[],
  cursor: string,
): string {
  const frames = events.map(({ change, data }, index) => {
    const id = index === events.length - 1 ? `id: ${cursor}\n` : '';
    return `${id}event: ${change.type}\ndata: ${data}\n\n`;
  });
  return frames.join('');
}

/** Headers of the response to a stream request. */
export const HEADERS = [
  ...['content-type', 'text/event-stream'],
  // A proxy that compresses a stream delays its events.
  ...['cache-control', 'no-store, no-transform'],
  // Without it, nginx buffers the events.
  ...['x-accel-buffering', 'no'],
];
