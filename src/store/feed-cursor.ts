import { type Moment, momentText, parseMoment } from '../orders/heads.ts';
import { decodeCursor } from './cursor.ts';
import type { FeedStart } from './feed.ts';

/** A moment that is in the past of no store. */
const NOWHERE: Moment = { revision: 0n, head: '' };

/**
 * Returns the cursor of a position in the feed of changes. It commits to everything before it: whoever keeps one can prove later
 * that all of that is as it was.
 */
export function feedCursor(position: Moment): string {
  return momentText(position);
}

/**
 * Returns the position of a cursor; undefined if it is not a cursor. Cursors of the beta versions without heads belong to no
 * history.
 */
export function parseFeedCursor(cursor: string): Moment | undefined {
  return parseMoment(cursor) ?? (decodeCursor(cursor) === undefined ? undefined : NOWHERE);
}

/** Parses a cursor, `start` or `now`; returns undefined for any other text. */
export function parseFeedStart(text: string): FeedStart | undefined {
  return text === 'start' || text === 'now' ? text : parseFeedCursor(text);
}
