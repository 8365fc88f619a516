import type { ServerResponse } from 'node:http';
import type { Position } from '../../../protocol/history.ts';
import type { ApiKey } from '../../domain/api-key.ts';
import { whenClosed } from '../../http/connection/lingering-close.ts';
import { STREAM_END_MS } from '../../http/limits.ts';
import type { FeedFilter } from '../../store/feed.ts';

/** A stream, open until its response is closed. */
export interface Stream {
  readonly response: ServerResponse;
  readonly key: ApiKey;
  /** The changes that it gets; undefined for all. */
  readonly filter: FeedFilter | undefined;
  /** The position after the last change that was written. */
  position: Position;
  /** Whether it gets each change as it happens; otherwise it is still reading earlier ones. */
  isLive: boolean;
  /** Whether earlier changes are being read for it. */
  isCatchingUp: boolean;
}

/** Ends a stream, and destroys it if its client does not read the rest within STREAM_END_MS. */
export function endSoon(response: ServerResponse): void {
  if (!isOpen(response)) return;
  response.end();
  const overdue = setTimeout(() => response.destroy(), STREAM_END_MS);
  whenClosed(response, () => clearTimeout(overdue));
}

/** Resolves when a response can take more, or is closed. */
export function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

export function isOpen({ writableEnded, destroyed }: ServerResponse): boolean {
  return !writableEnded && !destroyed;
}
