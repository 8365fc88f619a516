import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { positionText } from '../../../protocol/history.ts';
import type { ApiKey } from '../../domain/api-key.ts';
import { discardInput, whenClosed } from '../../http/connection/lingering-close.ts';
import { MAX_STREAMS, MAX_STREAMS_PER_KEY } from '../../http/limits.ts';
import { type Exchange, inTime, timeLeft } from '../../http/request/exchange.ts';
import { sendError, sendHead } from '../../http/request/reply.ts';
import {
  type ChangePage,
  type FeedFilter,
  type FeedStart,
  MAX_CHANGES,
  startPosition,
} from '../../store/feed.ts';
import { type Fault, type Store, StoreUnavailable } from '../../store/store.ts';
import { follow, LiveFeed, PositionLost } from '../follow.ts';
import { eventsOf } from './event-stream.ts';

/** Maximum bytes that wait for the client of a stream; beyond it, the stream reads from the store again only after they have been sent. */
export const MAX_STREAM_BACKLOG_BYTES = 256 * 1024;
/** Maximum bytes that wait for the clients of all streams; beyond it, the streams with the most waiting bytes are closed, and their clients resume. */
const MAX_STREAMS_BACKLOG_BYTES = 128 * 1024 * 1024;
/** How long a stream that ends waits for its client to read the rest. */
export const STREAM_END_MS = 500;
/** How often the keys of streams are checked: a key that is revoked or expires ends its streams within a second. */
export const STREAM_KEYS_CHECKED_MS = 400;
/** How often a comment is written to streams: it keeps proxies from closing them, and detects stalled connections. */
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = Buffer.from(':\n\n');

/** How long a client should wait before it reconnects, in milliseconds. */
const RETRY_MS = 1_000;

const HEADERS = [
  ...['content-type', 'text/event-stream'],
  // A proxy that compresses a stream delays its events.
  ...['cache-control', 'no-store, no-transform'],
  // Without it, nginx buffers the events.
  ...['x-accel-buffering', 'no'],
];

/** Faults after which this node will not serve the store again. */
const ENDING: readonly Fault[] = ['moved', 'schema'];

interface ChangeStreamsParts {
  readonly feed: Store['feed'];
  /** Returns those of the keys that are still valid. */
  readonly recheck: (keys: readonly ApiKey[]) => Promise<ReadonlySet<ApiKey>>;
  /** Called when changes cannot be read from the store; the read is retried. */
  readonly onError: (error: unknown) => void;
}

/** A stream, open until its response is closed. */
interface Stream {
  readonly response: ServerResponse;
  readonly key: ApiKey;
  /** The changes that it gets; undefined for all. */
  readonly filter: FeedFilter | undefined;
}

/**
 * The open streams of changes. They follow the feed, share its reads, and each change is formatted once. A stream whose client falls behind
 * continues when the client has read what was sent.
 */
export class ChangeStreams {
  readonly #parts: ChangeStreamsParts;
  readonly #live: LiveFeed;
  readonly #streams = new Set<Stream>();
  #timers: NodeJS.Timeout[] = [];
  #checkedAt = 0;
  /** The check of the keys that is running. */
  #checking: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: ChangeStreamsParts) {
    this.#parts = parts;
    this.#live = new LiveFeed({
      feed: parts.feed,
      beforeRead: () => this.#beforeRead(),
      onError: (error, isFirst) => {
        if (isFirst) parts.onError(error);
        // The store continues elsewhere, or with another release: this node will get no further changes.
        if (isEnding(error)) this.#endAll();
      },
    });
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
    // The last response of its connection, even if the stream is refused.
    response.shouldKeepAlive = false;
    const wanted = {
      /** A client that has left, or got a 503, gives up its turn to read. */
      get aborted() {
        return !isOpen(response) || timeLeft(exchange) <= 0;
      },
    };
    const page = await inTime(exchange, () => this.#live.read(after, MAX_CHANGES, wanted));
    if (!isOpen(response)) return;
    if (page === undefined) {
      sendError(exchange, 'changes_gone');
      return;
    }
    const refusal = this.#whyFull(key);
    if (refusal !== undefined) {
      sendError(exchange, refusal);
      return;
    }
    sendHead(exchange, 200, HEADERS);
    if (request.method === 'HEAD' || this.#isClosed) {
      response.end();
      return;
    }
    // Ends the stream when the client closes its side. If that has already happened, the next heartbeat detects it.
    request.socket.once('end', () => response.destroy());
    // Discards later requests on the connection. If they were queued, the connection would not be read, and the client's end not be detected.
    discardInput(request.socket);
    // A client that is disconnected before the first event resumes here.
    response.write(`retry: ${RETRY_MS}\nid: ${positionText(startPosition(after, page.now))}\n\n`);
    const stream = { response, key, filter };
    const signal = this.#add(stream);
    await this.#send(stream, page, signal);
  }

  /** Ends all streams gracefully; clients resume on other nodes. */
  close(): void {
    this.#isClosed = true;
    this.#endAll();
  }

  #endAll(): void {
    for (const { response } of this.#streams) endSoon(response);
  }

  #whyFull({ id }: ApiKey): 'stream_limit_reached' | 'too_many_streams' | undefined {
    const own = [...this.#streams].filter(({ key }) => key.id === id).length;
    if (own >= MAX_STREAMS_PER_KEY) return 'stream_limit_reached';
    return this.#streams.size >= MAX_STREAMS ? 'too_many_streams' : undefined;
  }

  /** Returns a signal that is aborted when the stream is closed. */
  #add(stream: Stream): AbortSignal {
    const closing = new AbortController();
    this.#streams.add(stream);
    if (this.#timers.length === 0) {
      this.#timers = [
        setInterval(() => this.#beat(), HEARTBEAT_MS),
        // Also checks the keys of streams that wait for their clients. A failure is reported by the next read.
        setInterval(() => this.#beforeRead().catch(() => {}), STREAM_KEYS_CHECKED_MS),
      ];
    }
    whenClosed(stream.response, () => {
      this.#streams.delete(stream);
      closing.abort();
      if (this.#streams.size > 0) return;
      for (const timer of this.#timers) clearInterval(timer);
      this.#timers = [];
    });
    return closing.signal;
  }

  #beat(): void {
    for (const { response } of this.#streams) if (isOpen(response)) response.write(HEARTBEAT);
  }

  /** Sends changes until the stream is closed, beginning with a given page. After a failure, the client resumes. */
  async #send({ response, filter }: Stream, page: ChangePage, signal: AbortSignal): Promise<void> {
    const write = async (next: ChangePage) => {
      const eventsFor = await eventsOf(next);
      if (!isOpen(response)) return;
      const bytes = eventsFor(filter);
      if (bytes.length > 0) response.write(bytes);
      // Earlier changes are read at the client's pace; new ones may be buffered for it.
      const isBehind = next.isMore
        ? response.writableNeedDrain
        : response.writableLength > MAX_STREAM_BACKLOG_BYTES;
      if (isBehind) await drained(response, signal);
    };
    try {
      await write(page);
      if (!page.isMore) await this.#live.changed(page.position, signal);
      for await (const next of follow(this.#live, page.position, signal)) {
        if (!isOpen(response)) return;
        await write(next);
      }
    } catch (error) {
      if (error instanceof PositionLost || isEnding(error)) endSoon(response);
      else {
        this.#parts.onError(error);
        response.destroy();
      }
    }
  }

  /** Checks the keys before each read: while that fails, no stream gets new changes. */
  async #beforeRead(): Promise<void> {
    this.#shed();
    if (performance.now() - this.#checkedAt < STREAM_KEYS_CHECKED_MS) return;
    this.#checking ??= this.#checkKeys().finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
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
    // Streams that were opened at different times, or with the former secret, have records of their own of the same key.
    const bySecret = Map.groupBy(this.#streams, ({ key }) =>
      Buffer.from(key.digest).toString('hex'),
    );
    const keys = [...bySecret.values()].map(([first]) => first!.key);
    const valid = await this.#parts.recheck(keys);
    this.#checkedAt = checkedAt;
    for (const [first, ...others] of bySecret.values()) {
      if (valid.has(first!.key)) continue;
      for (const { response } of [first!, ...others]) endSoon(response);
    }
  }
}

function isEnding(error: unknown): boolean {
  return error instanceof StoreUnavailable && ENDING.includes(error.fault);
}

/** Ends a stream, and destroys it if its client does not read the rest within STREAM_END_MS. */
function endSoon(response: ServerResponse): void {
  if (!isOpen(response)) return;
  response.end();
  const overdue = setTimeout(() => response.destroy(), STREAM_END_MS);
  whenClosed(response, () => clearTimeout(overdue));
}

/** Resolves when a response can take more, or its stream is closed. */
async function drained(response: ServerResponse, closed: AbortSignal): Promise<void> {
  await once(response, 'drain', { signal: closed }).catch(() => {});
}

function isOpen({ writableEnded, destroyed }: ServerResponse): boolean {
  return !writableEnded && !destroyed;
}
