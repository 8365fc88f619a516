import { positionText } from '../../../protocol/history.ts';
import { Mutex } from '../../concurrency/mutex.ts';
import type { ChangePage, FeedStart } from '../../store/feed.ts';
import type { ReadFeed } from './next-page.ts';

/** How long a page is used again: webhooks that keep up read the same pages. */
const USED_AGAIN_MS = 100;
/** Maximum number of pages that are kept. */
const MAX_KEPT = 64;

/**
 * Returns a read of the feed that webhooks at the same position share. Pages are read one at a time: many at once would leave no room for
 * the reads of clients, which are limited.
 */
export function readsInCommon(read: ReadFeed): ReadFeed {
  const mutex = new Mutex();
  const kept = new Map<string, Promise<ChangePage | undefined>>();
  return (after, limit) => {
    const name = `${nameOf(after)} ${limit}`;
    const known = kept.get(name);
    if (known !== undefined) return known;
    const reading = mutex.run(() => read(after, limit));
    if (kept.size >= MAX_KEPT) return reading;
    kept.set(name, reading);
    const forget = () => kept.delete(name);
    // What failed is read again at once.
    reading.then(() => setTimeout(forget, USED_AGAIN_MS).unref(), forget);
    return reading;
  };
}

function nameOf(start: FeedStart): string {
  return typeof start === 'string' ? start : positionText(start);
}
