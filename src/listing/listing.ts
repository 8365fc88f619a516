import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Moment } from '../orders/heads.ts';
import { type Order, orderJson } from '../orders/order.ts';
import { type Block, withEntries } from './blocks.ts';

/** A source of changes for a listing; implemented by Store. */
export interface ChangeSource {
  /**
   * Calls `visit` with every order changed after `since`, each once and all from one snapshot, in batches that are
   * each in ascending id; resolves to the moment of the snapshot. If `since` is undefined, visits all orders, except
   * that cancelled ones may be left out, since the caller has none to remove.
   *
   * Resolves to undefined without a visit if `since` is not in this store's past: the store was restored, or lost changes.
   */
  changes(
    since: Moment | undefined,
    visit: (orders: readonly Order[]) => void,
  ): Promise<Moment | undefined>;
}

/** The complete response of listOrders at one moment: the concatenated `chunks` are the JSON array. */
export interface Snapshot {
  readonly moment: Moment;
  /** Number of orders listed. */
  readonly count: number;
  readonly byteLength: number;
  /** Bytes of blocks replaced since the beginning; an upper bound for the difference between two snapshots. */
  readonly replacedBytes: number;
  readonly chunks: readonly Buffer[];
  /** The blocks that the chunks between the first and the last one are made from. */
  readonly blocks: readonly Block[];
}

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');

/**
 * The live list: all orders that are not cancelled, kept as the bytes of the response. Never stale: the result of
 * `current` contains every change that was durable when it was called, by whichever process it was made.
 */
export class Listing {
  readonly #source: ChangeSource;
  readonly #onRefresh: (changed: number, ms: number) => void;
  #snapshot: Snapshot | undefined;
  /** The active refresh, and the one after it. */
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Snapshot> | undefined;

  /** @param onRefresh called after each refresh with the number of changed orders and the duration in milliseconds */
  constructor(source: ChangeSource, onRefresh: (changed: number, ms: number) => void = () => {}) {
    this.#source = source;
    this.#onRefresh = onRefresh;
  }

  /**
   * Returns an up-to-date snapshot. At most one refresh is active. Callers that arrive during a refresh, or in the
   * same turn of the event loop, share the next one, which starts after all of their calls and so includes every change
   * that was durable before them.
   * @throws whatever the source throws: without its answer the list may be stale
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
    if (current === undefined) throw new Error('the source did not return its orders');
    this.#snapshot = current;
    return current;
  }

  /**
   * Returns `known` with all changes since applied. If the source fails meanwhile, nothing is applied. Returns
   * undefined if `known` is not in the source's past.
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
    // Each block begins with a comma, which the array's first element must not have.
    const chunk = chunks.length === 1 ? bytes.subarray(1) : bytes;
    chunks.push(chunk);
    count += ids.length;
    byteLength += chunk.length;
  }
  chunks.push(CLOSE);
  return { moment, count, byteLength, replacedBytes, chunks, blocks };
}
