import { type Block, withEntries } from './blocks.ts';
import { type Order, orderJson } from './order.ts';

/** Where a listing hears of changes; a store is one. */
export interface ChangeSource {
  /**
   * Calls `visit` with every order changed after `since`, once and all from one snapshot, in batches
   * that are each in ascending id, and resolves to the revision of that snapshot. After revision 0
   * there is nothing to take back, so cancelled orders may be left out then.
   */
  changes(since: bigint, visit: (orders: readonly Order[]) => void): Promise<bigint>;
}

/** The whole answer to listOrders at one revision: `chunks` one after another are the JSON array. */
export interface Snapshot {
  readonly revision: bigint;
  /** Orders listed. */
  readonly count: number;
  readonly byteLength: number;
  /** Bytes of blocks replaced since the beginning; what two snapshots differ by is at most that. */
  readonly replacedBytes: number;
  readonly chunks: readonly Buffer[];
}

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');

/**
 * The live list: all orders that are not cancelled, kept as the bytes of the answer. Never stale:
 * what `current` resolves to holds every change that was durable when it was called, whoever made
 * it.
 */
export class Listing {
  readonly #source: ChangeSource;
  readonly #onRefresh: (changed: number) => void;
  #blocks: readonly Block[] = [];
  #snapshot: Snapshot = snapshotOf(0n, [], 0);
  #running: Promise<Snapshot> | undefined;
  #next: Promise<Snapshot> | undefined;

  /** @param onRefresh is told, after every look at the source, how many orders had changed. */
  constructor(source: ChangeSource, onRefresh: (changed: number) => void = () => {}) {
    this.#source = source;
    this.#onRefresh = onRefresh;
  }

  /**
   * At most one look at the source is under way, however many ask. Who asks meanwhile shares the
   * next one, for the one under way may have begun before a change they know of.
   * @throws what the source throws: without it nobody knows whether the list is still true.
   */
  current(): Promise<Snapshot> {
    if (this.#running === undefined) {
      this.#running = this.#run();
      return this.#running;
    }
    const run = () => this.#run();
    this.#next ??= this.#running.then(run, run);
    return this.#next;
  }

  async #run(): Promise<Snapshot> {
    try {
      return await this.#refresh();
    } finally {
      this.#running = this.#next;
      this.#next = undefined;
    }
  }

  async #refresh(): Promise<Snapshot> {
    const since = this.#snapshot.revision;
    const revision = await this.#catchUp(since, this.#blocks, 0);
    // The store went back in time (an older state was restored): what we hold may never have been.
    if (revision < since) await this.#catchUp(0n, [], this.#snapshot.byteLength);
    return this.#snapshot;
  }

  /** Takes over what changed after `since`, all of it or, if the source fails on the way, nothing. */
  async #catchUp(since: bigint, from: readonly Block[], dropped: number): Promise<bigint> {
    let draft = from;
    let replacedBytes = this.#snapshot.replacedBytes + dropped;
    let changed = 0;
    const revision = await this.#source.changes(since, (orders) => {
      changed += orders.length;
      const entries = orders.map((order) => ({
        id: order.id,
        text: order.status === 'cancelled' ? undefined : orderJson(order),
      }));
      const next = withEntries(draft, entries);
      draft = next.blocks;
      replacedBytes += next.replacedBytes;
    });
    this.#onRefresh(changed);
    const isNews = revision > since || since === 0n;
    if (isNews) {
      this.#blocks = draft;
      this.#snapshot = snapshotOf(revision, draft, replacedBytes);
    }
    return revision;
  }
}

function snapshotOf(revision: bigint, blocks: readonly Block[], replacedBytes: number): Snapshot {
  const chunks: Buffer[] = [OPEN];
  let count = 0;
  let byteLength = OPEN.length + CLOSE.length;
  for (const { ids, bytes } of blocks) {
    // Each block begins with a comma, which the first one does not need.
    const chunk = chunks.length === 1 ? bytes.subarray(1) : bytes;
    chunks.push(chunk);
    count += ids.length;
    byteLength += chunk.length;
  }
  chunks.push(CLOSE);
  return { revision, count, byteLength, replacedBytes, chunks };
}
