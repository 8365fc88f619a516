import type { StoreOrders } from './client.ts';
import { ConnectionError } from './errors.ts';
import { eventsOf } from './event-stream.ts';
import { parseExact } from './exact-json.ts';
import type { Change } from './records.ts';
import { send } from './request.ts';
import { pause, waitBefore } from './retries.ts';
import type { CallOptions, Settings } from './settings.ts';

/** Changes that belong together: those of one revision, or of several. */
export interface Batch {
  /** In order of revision, then order id. */
  readonly changes: readonly Change[];
  /** Behind these changes; store it with what you made of them, and give it as `after` to go on. */
  readonly cursor: string;
}

export interface FollowOptions extends CallOptions {
  /** A cursor, `start` (the default) or `now`. */
  readonly after?: string;
  /** Called with `true` when all changes so far are read and further ones will arrive at once, `false` when the connection is lost. */
  readonly onLive?: (isLive: boolean) => void;
}

/** Changes of a page. */
const PAGE = 500;
/** As when a node stops; the client goes on at another one. */
const STREAM_ENDED = new ConnectionError('the stream has ended');

/** See StoreOrders.changes. Bursts are read as pages; between them, the stream is followed. */
export async function* followChanges(
  client: StoreOrders,
  settings: Settings,
  { after = 'start', signal, onLive = () => {} }: FollowOptions,
): AsyncGenerator<Batch, void> {
  let cursor = after;
  for (let failures = 0; ; failures += 1) {
    let cause: unknown = STREAM_ENDED;
    try {
      for (let isMore = true; isMore; ) {
        const page = await client.listChanges({ after: cursor, limit: PAGE }, { signal });
        cursor = page.next;
        isMore = page.more;
        if (page.changes.length > 0) yield { changes: page.changes, cursor };
      }
      for await (const batch of streamedChanges(settings, cursor, { signal, onLive })) {
        failures = 0;
        cursor = batch.cursor;
        if (batch.changes.length > 0) yield batch;
      }
    } catch (error) {
      cause = error;
    } finally {
      onLive(false);
    }
    const waitMs = waitBefore(cause, failures);
    if (waitMs === undefined) throw cause;
    await pause(Math.min(waitMs, settings.longestWaitMs), signal);
  }
}

/** The changes of one stream, until it ends. Those of one revision are yielded together. */
async function* streamedChanges(
  settings: Settings,
  after: string,
  { signal, onLive }: Required<Pick<FollowOptions, 'onLive'>> & CallOptions,
): AsyncGenerator<Batch, void> {
  const reply = await send(settings, {
    ...{
      method: 'GET',
      path: '/v2/store/changes/stream',
      query: { after },
      expects: [200],
      signal,
    },
    headers: { accept: 'text/event-stream' },
  });
  onLive(true);
  let changes: Change[] = [];
  for await (const { id, data } of eventsOf(reply.chunks())) {
    if (data !== '') changes.push(parseExact(data) as Change);
    if (id === undefined) continue;
    yield { changes, cursor: id };
    changes = [];
  }
}
