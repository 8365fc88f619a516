import type { ListChangesQuery } from '../../../protocol/generated/calls.ts';
import type { Change, ChangePage } from '../../../protocol/generated/records.ts';
import { functionOf, queryOf } from '../arguments.ts';
import { Call, pause } from '../call.ts';
import { ConnectionError, LimitError, TimeoutError, UnavailableError } from '../errors.ts';
import { parse } from '../exact-json.ts';
import { LARGEST_PAGE } from '../orders.ts';
import { open, readPage, requestOf } from '../request.ts';
import { persistently, waitOut } from '../retries.ts';
import { type CallOptions, harmless, type Settings } from '../settings.ts';
import { isChange } from '../shapes.ts';
import type { Stoppable } from '../stoppable.ts';
import { type Verify, verifying } from './verify-history.ts';

/** The changes of one or several whole revisions. */
export interface Batch {
  /** In order of revision, then order id. */
  readonly changes: readonly Change[];
  /** The position after these changes. Store it together with your processed data, and pass it as `after` to resume. */
  readonly cursor: string;
}

export interface FollowOptions extends ChangesFilter, Pick<CallOptions, 'signal' | 'headers'> {
  /** A cursor, `start` (the default) or `now`. */
  readonly after?: string | undefined;
  /**
   * Whether to prove that nothing is missing between two cursors and that nothing was altered; see "What you can prove" in
   * the service's docs/integrating.md. By default it is proved where the runtime has SHA-256: in all but browsers over HTTP. Filtered
   * changes cannot prove it.
   */
  readonly verify?: boolean | undefined;
  /**
   * Called with `true` when all changes so far have been read and further ones will arrive immediately, and with `false` when
   * the connection is lost.
   */
  readonly onLive?: ((isLive: boolean) => void) | undefined;
}

/** The page of changes to read. */
export type ChangesQuery = ListChangesQuery;

/** Conditions on the changes to read; without any, all changes. */
export type ChangesFilter = Omit<ChangesQuery, 'after' | 'since' | 'limit'>;

/** The types that changes have in this release of the contract. */
export type ChangeType = Extract<ChangesFilter['type'], string>;

/** A stream that lasts longer than this resets the number of failures when it ends. */
const STEADY_MS = 10_000;
/** How often pages are read while there is no stream, in milliseconds. */
const POLL_MS = 1_000;
/**
 * Delay before a stream that was refused or stayed silent is retried. Proxies that buffer responses silence streams. The delay doubles each
 * time, up to STREAM_AGAIN_MOST_MS.
 */
const STREAM_AGAIN_MS = 15_000;
const STREAM_AGAIN_MOST_MS = 300_000;
/** Maximum number of changes in a revision, with a margin for later releases. */
const MAX_CHANGES = 100_000;

/** Reads a page of changes, with as many retries as it takes. @throws HistoryMismatchError, and errors that a retry cannot resolve */
export async function verifiedPage(
  call: Call,
  query: ChangesQuery & { readonly after: string },
  verify: Verify | undefined,
): Promise<ChangePage> {
  const page = (await persistently(call, () => readPage(call, 'listChanges', { query })))!;
  await verify?.(call, { after: query.after, changes: page.changes, cursor: page.next });
  return page;
}

/**
 * See StoreOrders.changes. Bursts are read as pages; between them, the stream is followed. Without a stream, pages are
 * polled.
 */
export async function* followChanges(
  settings: Settings,
  {
    after = 'start',
    headers,
    onLive,
    signal,
    verify: wanted,
    ...filter
  }: FollowOptions & Stoppable,
): AsyncGenerator<Batch, void> {
  const call = new Call(settings, { headers, signal });
  const isFiltered = Object.values(queryOf('listChanges', filter)).some(
    (each) => each !== undefined,
  );
  if (isFiltered && wanted === true) throw new TypeError('filtered changes cannot be verified');
  const verify = isFiltered ? undefined : verifying(wanted);
  const tell = harmless(functionOf(onLive, 'onLive'));
  let isLive = false;
  const become = (live: boolean) => {
    if (live !== isLive) tell(live);
    isLive = live;
  };
  let cursor = after;
  let failures = 0;
  let silentStreams = 0;
  /** By performance.now(). */
  let streamAt = 0;
  try {
    for (;;) {
      for (let isMore = true; isMore; ) {
        const query = { ...filter, after: cursor, limit: LARGEST_PAGE };
        const page = await verifiedPage(call, query, verify);
        cursor = page.next;
        isMore = page.more;
        if (page.changes.length > 0) yield { changes: page.changes, cursor };
      }
      if (performance.now() < streamAt) {
        await pause(POLL_MS, signal);
        continue;
      }
      let hasBegun = false;
      const begunAt = performance.now();
      try {
        for await (const batch of streamedChanges(call, cursor, filter)) {
          hasBegun = true;
          silentStreams = 0;
          if (batch.changes.length > 0) failures = 0;
          become(true);
          await verify?.(call, { after: cursor, ...batch });
          cursor = batch.cursor;
          if (batch.changes.length > 0) yield batch;
        }
        // For example, a node has stopped; the client continues with another one.
        throw new ConnectionError('the stream has ended', { requestId: call.requestId });
      } catch (error) {
        become(false);
        if (performance.now() - begunAt > STEADY_MS) failures = 0;
        const isNone =
          (error instanceof TimeoutError && !hasBegun) ||
          (error instanceof UnavailableError && error.code === 'too_many_streams') ||
          (error instanceof LimitError && error.code === 'stream_limit_reached');
        if (isNone && !signal.aborted) {
          const againMs = Math.min(STREAM_AGAIN_MS * 2 ** silentStreams, STREAM_AGAIN_MOST_MS);
          streamAt = performance.now() + againMs;
          silentStreams += 1;
        } else {
          await waitOut(call, error, failures);
          failures += 1;
        }
      }
    }
  } finally {
    become(false);
    call.end();
  }
}

/** The changes of one stream, until it ends. It begins with an empty batch; the changes of one revision are yielded together. */
async function* streamedChanges(
  call: Call,
  after: string,
  filter: ChangesFilter,
): AsyncGenerator<Batch, void> {
  const given = { query: { ...filter, after }, headers: { accept: 'text/event-stream' } };
  const reply = await open(call, requestOf('streamChanges', given));
  try {
    const type = reply.headers.get('content-type');
    if (!type?.startsWith('text/event-stream')) throw reply.foreign('is not a stream');
    let changes: Change[] = [];
    // The service sends an id first, and then something at least every 15 seconds.
    for await (const { id, data } of eventsOf(reply.chunks())) {
      if (data !== '') changes.push(changeIn(data));
      if (changes.length > MAX_CHANGES) throw new RangeError('the revision is too long');
      if (id === undefined) continue;
      reply.keepAlive();
      yield { changes, cursor: id };
      changes = [];
    }
  } catch (error) {
    throw reply.failure(error, 'is not a stream of changes');
  } finally {
    reply.close();
  }
}

/** @throws SyntaxError */
function changeIn(data: string): Change {
  const change = parse(data);
  if (!isChange(change)) throw new SyntaxError('not a Change record');
  return change;
}

/** An event of https://html.spec.whatwg.org/multipage/server-sent-events.html */
interface StreamEvent {
  /** Undefined if the event has none. */
  readonly id: string | undefined;
  /** Empty if the event has none. */
  readonly data: string;
}

/** Maximum length of an event; those of the service have a few hundred bytes. */
const MAX_EVENT_LENGTH = 1024 * 1024;

/**
 * Parses server-sent events as they arrive. An event that is not finished when the stream ends is dropped.
 * @throws RangeError if an event is longer than MAX_EVENT_LENGTH
 */
export async function* eventsOf(chunks: AsyncIterable<string>): AsyncGenerator<StreamEvent, void> {
  let text = '';
  let id: string | undefined;
  let data: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    text += chunk;
    // A CR at the end may be the first half of CRLF.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    text = lines.pop()!;
    for (const line of lines) {
      if (line === '') {
        if (id !== undefined || data.length > 0) yield { id, data: data.join('\n') };
        [id, data, length] = [undefined, [], 0];
      } else {
        length += line.length;
        const [, field, value] = /^([^:]*)(?:: ?)?(.*)$/s.exec(line)!;
        if (field === 'id') id = value!;
        else if (field === 'data') data.push(value!);
      }
    }
    if (text.length + length > MAX_EVENT_LENGTH) throw new RangeError('the event is too long');
  }
}
