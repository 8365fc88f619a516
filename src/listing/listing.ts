import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Position } from '../../protocol/history.ts';
import { orderJson } from '../domain/order.ts';
import { type Store, type StoreStatus, StoreUnavailable } from '../store/store.ts';
import { type Block, withEntries } from './blocks.ts';

/** The complete response of listOrders at one position: the concatenated `chunks` are the JSON array. */
export interface Snapshot {
  readonly position: Position;
  readonly count: number;
  readonly byteLength: number;
  /** Bytes of blocks replaced since the beginning; an upper bound for the difference between two snapshots. */
  readonly replacedBytes: number;
  readonly chunks: readonly Buffer[];
  /** The blocks; all chunks except the first and the last are made from them. */
  readonly blocks: readonly Block[];
}

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');

/** How long the list stays in memory without a request for it. */
export const LIST_KEPT_MS = 24 * 60 * 60 * 1_000;
/** How often a use of the list is reported. */
const USE_REPORTED_MS = 60 * 60 * 1_000;

/** The first orders take longer than later ones, so the end of a read is not estimated from them alone. */
const ESTIMATED_AFTER_MS = 500;

export interface FirstRead {
  /** Orders that have been read. */
  readonly read: number;
  /** Orders that the list had when the read began. */
  readonly total: number;
  /** Milliseconds that the rest will take, at the speed until now; undefined for ESTIMATED_AFTER_MS. */
  readonly msLeft: number | undefined;
}

interface ListSource extends Pick<Store, 'changedOrders'> {
  status(): Promise<Pick<StoreStatus, 'orders' | 'revision'>>;
}

interface ListingEvents {
  /** Called after each refresh with the number of changed orders and the duration in milliseconds. */
  readonly onRefresh?: (changed: number, ms: number) => void;
  /** Called if a list that was read has another number of orders than the store counts at this revision. */
  readonly onMiscount?: (listed: number, counted: number) => void;
  /** Called once an hour at most, when a request asks for the list. */
  readonly onUse?: () => void;
}

/**
 * The live list: all orders that are not cancelled, kept as the bytes of the response. Never stale: the result of
 * `current` contains every change that was durable when it was called, by whichever process it was made. It is in memory from the first request
 * for it until there was none for LIST_KEPT_MS.
 */
export class Listing {
  readonly #source: ListSource;
  readonly #events: ListingEvents;
  #snapshot: Snapshot | undefined;
  /** Bytes of blocks that were replaced until the list was last dropped. */
  #replacedBefore = 0;
  #firstRead: { read: number; readonly total: number; readonly since: number } | undefined;
  /** When the list was last asked for, and when that was last reported, by performance.now(). */
  #askedAt = Number.NEGATIVE_INFINITY;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  /** The active refresh, and the one after it. */
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Snapshot> | undefined;

  constructor(source: ListSource, events: ListingEvents = {}) {
    this.#source = source;
    this.#events = events;
  }

  get isInMemory(): boolean {
    return this.#snapshot !== undefined;
  }

  /** The state of the first read; undefined unless one is active. */
  get firstRead(): FirstRead | undefined {
    if (this.#firstRead === undefined) return undefined;
    const { read, total, since } = this.#firstRead;
    const ms = performance.now() - since;
    const isEstimated = ms > ESTIMATED_AFTER_MS && read > 0;
    const msLeft = isEstimated ? (ms / read) * Math.max(0, total - read) : undefined;
    return { read, total, msLeft };
  }

  /**
   * Returns an up-to-date snapshot. At most one refresh is active. Callers that arrive during a refresh, or in the
   * same turn of the event loop, share the next one, which starts after all of their calls and so includes every change
   * that was durable before them.
   * @throws whatever the source throws: without its answer the list may be stale
   */
  current(): Promise<Snapshot> {
    this.#askedAt = performance.now();
    if (this.#askedAt - this.#reportedAt > USE_REPORTED_MS) {
      this.#reportedAt = this.#askedAt;
      this.#events.onUse?.();
    }
    return this.#latest();
  }

  /** Reads a list that will be asked for. Resolves once it is in memory, or its read has failed, which `keep` repeats. */
  async readAhead(): Promise<void> {
    this.#askedAt = performance.now();
    await this.#latest().catch(() => {});
  }

  /**
   * Called once a second: refreshes the list in memory, so that no request has to wait for a large import, or drops it if there was no request for
   * LIST_KEPT_MS. Does not wait for a first read.
   * @throws whatever the source throws at a refresh
   */
  async keep(): Promise<void> {
    if (performance.now() - this.#askedAt > LIST_KEPT_MS) {
      this.#replacedBefore += this.#snapshot?.replacedBytes ?? 0;
      this.#snapshot = undefined;
      return;
    }
    const latest = this.#latest();
    if (this.isInMemory) await latest;
    else latest.catch(() => {});
  }

  /** Ends an active read, which could take long: the store waits for it before it is closed. */
  stop(): void {
    this.#isStopped = true;
  }

  #latest(): Promise<Snapshot> {
    this.#next ??= this.#lookNext();
    return this.#next;
  }

  async #lookNext(): Promise<Snapshot> {
    await this.#running;
    await nextTurn();
    const look = this.#refresh();
    this.#running = look.catch(() => {});
    this.#next = undefined;
    return look;
  }

  async #refresh(): Promise<Snapshot> {
    const known = this.#snapshot;
    const current =
      known === undefined
        ? await this.#readFirst()
        : ((await this.#catchUp(known, known.replacedBytes)) ??
          (await this.#catchUp(undefined, known.replacedBytes + known.byteLength)));
    if (current === undefined) throw new Error('the source did not return its orders');
    this.#snapshot = current;
    return current;
  }

  async #readFirst(): Promise<Snapshot | undefined> {
    const { orders, revision } = await this.#source.status();
    const counted = Number(orders.pending + orders.shipped);
    this.#firstRead = { read: 0, total: counted, since: performance.now() };
    try {
      const list = await this.#catchUp(undefined, this.#replacedBefore);
      const isComparable = list !== undefined && list.position.revision === revision;
      if (isComparable && list.count !== counted) this.#events.onMiscount?.(list.count, counted);
      return list;
    } finally {
      this.#firstRead = undefined;
    }
  }

  /**
   * Returns `known` with all changes since applied. If the source fails, nothing is applied. Returns undefined if `known` is not in the source's
   * past.
   */
  async #catchUp(
    known: Snapshot | undefined,
    replacedBefore: number,
  ): Promise<Snapshot | undefined> {
    let draft = known?.blocks ?? [];
    let replacedBytes = replacedBefore;
    let changed = 0;
    const from = performance.now();
    const position = await this.#source.changedOrders(known?.position, (orders) => {
      if (this.#isStopped) throw new StoreUnavailable('the service is stopping', 'unreachable');
      changed += orders.length;
      if (this.#firstRead !== undefined) this.#firstRead.read = changed;
      const entries = orders.map((order) => ({
        id: order.id,
        text: order.status === 'cancelled' ? undefined : orderJson(order),
      }));
      const next = withEntries(draft, entries);
      draft = next.blocks;
      replacedBytes += next.replacedBytes;
    });
    if (position === undefined) return undefined;
    this.#events.onRefresh?.(changed, performance.now() - from);
    if (position.revision === known?.position.revision) return known;
    return snapshotOf(position, draft, replacedBytes);
  }
}

function snapshotOf(position: Position, blocks: readonly Block[], replacedBytes: number): Snapshot {
  const chunks: Buffer[] = [OPEN];
  let count = 0;
  let byteLength = OPEN.length + CLOSE.length;
  for (const { ids, bytes } of blocks) {
    // Each block begins with a comma, which the array's first element must not have.
    const chunk = chunks.length === 1 ? bytes.subarray(1) : bytes;
    chunks.push(chunk);
    count += ids.length;
    byteLength += chunk.length;
  }
  chunks.push(CLOSE);
  return { position, count, byteLength, replacedBytes, chunks, blocks };
}
