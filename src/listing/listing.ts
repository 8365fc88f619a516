import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Order, orderJson } from '../orders/order.ts';
import { type Block, withEntries } from './blocks.ts';

/** A moment in the life of a store: whoever reads all orders at the same one reads the same. */
export interface Moment {
  readonly storeId: string;
  /** Grows with every transaction that changed an order. */
  readonly revision: bigint;
  /**
   * Random, of the transaction that made the revision. A store that has lost the end of its history reaches the same
   * revisions again, with other orders and other marks.
   */
  readonly mark: bigint;
}

/** Where a listing hears of changes; a store is one. */
export interface ChangeSource {
  /**
   * Calls `visit` with every order changed after `since`, once and all from one snapshot, in batches
   * that are each in ascending id, and resolves to the moment of that snapshot. With `since` undefined
   * it tells all orders, but may leave out cancelled ones: there is nothing to take back.
   *
   * Resolves to undefined, and has visited nothing then, when `since` may be no moment of this store's
   * past: it was restored, or took the place of one that had gone further.
   */
  changes(
    since: Moment | undefined,
    visit: (orders: readonly Order[]) => void,
  ): Promise<Moment | undefined>;
}

/** The whole answer to listOrders at one moment: `chunks` one after another are the JSON array. */
export interface Snapshot {
  readonly moment: Moment;
  /** Orders listed. */
  readonly count: number;
  readonly byteLength: number;
  /** Bytes of blocks replaced since the beginning; what two snapshots differ by is at most that. */
  readonly replacedBytes: number;
  readonly chunks: readonly Buffer[];
  /** What the chunks between the first and the last one are made from. */
  readonly blocks: readonly Block[];
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
  readonly #onRefresh: (changed: number, ms: number) => void;
  #snapshot: Snapshot | undefined;
  /** The look that is under way, and the one that comes next. */
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Snapshot> | undefined;

  /** @param onRefresh is told, after every look at the source, how many orders had changed and how long it took. */
  constructor(source: ChangeSource, onRefresh: (changed: number, ms: number) => void = () => {}) {
    this.#source = source;
    this.#onRefresh = onRefresh;
  }

  /**
   * At most one look at the source is under way, however many ask. Who asks meanwhile, or in the same
   * turn of the event loop, shares the next one: it begins after all of them have asked, so it sees
   * every change that they know of.
   * @throws what the source throws: without it nobody knows whether the list is still true.
   */
  current(): Promise<Snapshot> {
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
      (known && (await this.#catchUp(known, known.replacedBytes))) ??
      (await this.#catchUp(
        undefined,
        known === undefined ? 0 : known.replacedBytes + known.byteLength,
      ));
    if (current === undefined) throw new Error('the source cannot tell its orders');
    this.#snapshot = current;
    return current;
  }

  /**
   * `known` with what changed since: all of it or, if the source fails on
   * the way, nothing. Undefined if `known` is not in the source's past.
   */
  async #catchUp(
    known: Snapshot | undefined,
    replacedBefore: number,
  ): Promise<Snapshot | undefined> {
    let draft = known?.blocks ?? [];
    let replacedBytes = replacedBefore;
    let changed = 0;
    const from = performance.now();
    const moment = await this.#source.changes(known?.moment, (orders) => {
      changed += orders.length;
      const entries = orders.map((order) => ({
        id: order.id,
        text: order.status === 'cancelled' ? undefined : orderJson(order),
      }));
      const next = withEntries(draft, entries);
      draft = next.blocks;
      replacedBytes += next.replacedBytes;
    });
    if (moment === undefined) return undefined;
    this.#onRefresh(changed, performance.now() - from);
    if (moment.revision === known?.moment.revision) return known;
    return snapshotOf(moment, draft, replacedBytes);
  }
}

function snapshotOf(moment: Moment, blocks: readonly Block[], replacedBytes: number): Snapshot {
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
  return { moment, count, byteLength, replacedBytes, chunks, blocks };
}
