import type { Position } from '../../../protocol/history.ts';
import { Mutex } from '../../concurrency/mutex.ts';
import type { ApiKey } from '../../domain/api-key.ts';
import { discardInput, whenClosed } from '../../http/connection/lingering-close.ts';
import {
  HEARTBEAT_MS,
  MAX_STREAM_BACKLOG_BYTES,
  MAX_STREAMS,
  MAX_STREAMS_BACKLOG_BYTES,
  MAX_STREAMS_PER_KEY,
  STREAM_KEYS_CHECKED_MS,
  STREAM_POLL_MS,
} from '../../http/limits.ts';
import { inTime, timeLeft } from '../../http/request/deadline.ts';
import type { Exchange } from '../../http/request/exchange.ts';
import { sendError, sendHead } from '../../http/request/reply.ts';
import {
  type ChangePage,
  type FeedFilter,
  type FeedStart,
  MAX_CHANGES,
  startPosition,
} from '../../store/feed.ts';
import { type Fault, type Store, StoreUnavailable } from '../../store/store.ts';
import { type EventsSince, eventsOf, HEADERS, HEARTBEAT, openingBytes } from './event-stream.ts';
import { drained, endSoon, isOpen, type Stream } from './stream.ts';

/** Why the store is not available, if this node will not serve it again. */
const ENDING: readonly Fault[] = ['moved', 'schema'];

export interface ChangeStreamsParts {
  readonly feed: Store['feed'];
  /** Returns the ids of those keys that are still valid. */
  readonly recheck: (keys: readonly ApiKey[]) => Promise<ReadonlySet<string>>;
  /** Called when changes cannot be read from the store; the read is retried. */
  readonly onError: (error: unknown) => void;
}

/**
 * The open streams of changes. One reader of the feed serves all of them: each change is read and formatted once, and
 * written to every stream. A stream that starts at an earlier position first reads its own pages, until it has caught up.
 */
export class ChangeStreams {
  readonly #parts: ChangeStreamsParts;
  readonly #streams = new Set<Stream>();
  /** The position of the live streams; undefined while there are none. */
  #position: Position | undefined;
  #timers: NodeJS.Timeout[] = [];
  readonly #reads = new Mutex();
  #isPolling = false;
  #isFailing = false;
  #checkedAt = 0;
  #isClosed = false;

  constructor(parts: ChangeStreamsParts) {
    this.#parts = parts;
  }

  get count(): number {
    return this.#streams.size;
  }

  /** Bytes that wait for the clients of all streams. */
  get backlogBytes(): number {
    return this.#streams.values().reduce((sum, each) => sum + each.response.writableLength, 0);
  }

  /** Sends the changes after the position `after` that match a filter as they happen, until either side ends the stream. */
  async open(exchange: Exchange, after: FeedStart, filter?: FeedFilter): Promise<void> {
    const { request, response } = exchange;
    const key = exchange.apiKey!;
    // The last response of its connection, also if the stream is refused: whether later requests are begun does not depend on that.
    response.shouldKeepAlive = false;
    const page = await inTime(exchange, () =>
      this.#read(after, () => isOpen(response) && timeLeft(exchange) > 0),
    );
    if (!isOpen(response)) return;
    if (page === undefined) {
      sendError(exchange, 'changes_gone');
      return;
    }
    if (!this.#hasRoom(key)) {
      sendError(exchange, 'too_many_streams');
      return;
    }
    sendHead(exchange, 200, HEADERS);
    if (request.method === 'HEAD' || this.#isClosed) {
      response.end();
      return;
    }
    // Ends the stream when the client closes its side. If it already has, the next heartbeat detects that.
    request.socket.once('end', () => response.destroy());
    // Requests after it are never begun. Waiting for their turn, they would keep the client's end from being read.
    discardInput(request.socket);
    const position = startPosition(after, page.now);
    response.write(openingBytes(position));
    const stream: Stream = { response, key, filter, position, isLive: false, isCatchingUp: false };
    this.#add(stream);
    await this.#writePage(stream, page);
    await this.#catchUp(stream);
  }

  /** Ends all streams gracefully; clients resume on other nodes. */
  close(): void {
    this.#isClosed = true;
    this.#endAll();
  }

  #hasRoom({ id }: ApiKey): boolean {
    const own = [...this.#streams].filter(({ key }) => key.id === id).length;
    return this.#streams.size < MAX_STREAMS && own < MAX_STREAMS_PER_KEY;
  }

  #add(stream: Stream): void {
    this.#streams.add(stream);
    if (this.#timers.length === 0) {
      this.#timers = [
        setInterval(() => void this.#poll(), STREAM_POLL_MS),
        setInterval(() => this.#beat(), HEARTBEAT_MS),
      ];
    }
    whenClosed(stream.response, () => {
      this.#streams.delete(stream);
      if (this.#streams.size > 0) return;
      for (const timer of this.#timers) clearInterval(timer);
      this.#timers = [];
      this.#position = undefined;
    });
  }

  #beat(): void {
    for (const { response } of this.#streams) if (isOpen(response)) response.write(HEARTBEAT);
  }

  /**
   * Reads earlier changes, for one stream at a time, so that many streams that catch up do not delay other requests.
   * @param isWanted false once the client has left or got a 503: such reads would delay those of other clients
   */
  #read(after: FeedStart, isWanted: () => boolean): Promise<ChangePage | undefined> {
    return this.#reads.run(async () =>
      isWanted() ? this.#parts.feed(after, MAX_CHANGES) : undefined,
    );
  }

  /** Writes earlier changes until the stream has caught up with the live ones. If it fails, the client resumes. */
  async #catchUp(stream: Stream): Promise<void> {
    const { response } = stream;
    // The stream may have fallen behind again before the loop has ended; two of them would write changes twice.
    if (stream.isCatchingUp) return;
    stream.isCatchingUp = true;
    try {
      while (isOpen(response) && !stream.isLive) {
        if (response.writableNeedDrain) {
          await drained(response);
          continue;
        }
        const page = await this.#read(stream.position, () => isOpen(response));
        if (page === undefined) endSoon(response);
        else await this.#writePage(stream, page);
      }
    } catch (error) {
      this.#parts.onError(error);
      response.destroy();
    } finally {
      stream.isCatchingUp = false;
    }
  }

  /** Writes a page of earlier changes. After the last one, the stream is live. */
  async #writePage(stream: Stream, page: ChangePage): Promise<void> {
    const { response } = stream;
    const bytes = (await eventsOf(page))(stream.position.revision, stream.filter);
    if (!isOpen(response)) return;
    if (bytes.length > 0) response.write(bytes);
    stream.position = page.position;
    if (page.isMore) return;
    this.#position ??= page.position;
    stream.isLive = stream.position.revision >= this.#position.revision;
  }

  /** Writes new changes to all live streams whose keys are still valid. */
  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      do {
        this.#shed();
        // Keys first: while they cannot be checked, no stream gets a change.
        if (performance.now() - this.#checkedAt > STREAM_KEYS_CHECKED_MS) await this.#checkKeys();
      } while (await this.#readOn());
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#parts.onError(error);
      this.#isFailing = true;
      // The store continues elsewhere, or with another release: no change would ever come.
      if (error instanceof StoreUnavailable && ENDING.includes(error.fault)) this.#endAll();
    } finally {
      this.#isPolling = false;
    }
  }

  /** Closes the streams with the most unread bytes while the total exceeds the limit; clients resume. */
  #shed(): void {
    let total = this.backlogBytes;
    if (total <= MAX_STREAMS_BACKLOG_BYTES) return;
    const open = [...this.#streams].map(({ response }) => response);
    for (const response of open.toSorted((a, b) => b.writableLength - a.writableLength)) {
      total -= response.writableLength;
      response.destroy();
      if (total <= MAX_STREAMS_BACKLOG_BYTES) return;
    }
  }

  async #checkKeys(): Promise<void> {
    const checkedAt = performance.now();
    const keys = new Map([...this.#streams].map(({ key }) => [key.id, key]));
    const valid = await this.#parts.recheck([...keys.values()]);
    this.#checkedAt = checkedAt;
    for (const { key, response } of this.#streams) {
      if (keys.has(key.id) && !valid.has(key.id)) endSoon(response);
    }
  }

  /** Reads and writes the next page for all live streams. Resolves to whether there was more. */
  async #readOn(): Promise<boolean> {
    if (this.#position === undefined) return false;
    const page = await this.#parts.feed(this.#position, MAX_CHANGES);
    if (page === undefined) {
      // The store has lost changes that the streams have sent. Clients that resume get 410.
      this.#endAll();
      return false;
    }
    const events = await eventsOf(page);
    if (this.#position === undefined) return false;
    this.#position = page.position;
    for (const stream of this.#streams)
      if (stream.isLive) this.#write(stream, events, page.position);
    return page.isMore;
  }

  /** Writes the events that a live stream does not have yet, unless its client has fallen behind. */
  #write(stream: Stream, eventsSince: EventsSince, position: Position): void {
    const { response } = stream;
    if (!isOpen(response)) return;
    if (response.writableLength > MAX_STREAM_BACKLOG_BYTES) {
      stream.isLive = false;
      void this.#catchUp(stream);
      return;
    }
    if (position.revision <= stream.position.revision) return;
    const bytes = eventsSince(stream.position.revision, stream.filter);
    stream.position = position;
    if (bytes.length > 0) response.write(bytes);
  }

  #endAll(): void {
    for (const { response } of this.#streams) endSoon(response);
    this.#position = undefined;
  }
}
