import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Position } from '../../protocol/history.ts';
import { orderJson } from '../domain/order.ts';
import type { Store } from '../store/store.ts';
import { type Block, withEntries } from './blocks.ts';

/** The complete response of listOrders at one position: the concatenated `chunks` are the JSON array. */
export interface Snapshot {
  readonly position: Position;
  /** Number of orders listed. */
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

/**
 * The live list: all orders that are not cancelled, kept as the bytes of the response. Never stale: the result of
 * `current` contains every change that was durable when it was called, by whichever process it was made.
 */
export class Listing {
  readonly #source: Pick<Store, 'changedOrders'>;
  readonly #onRefresh: (changed: number, ms: number) => void;
  #snapshot: Snapshot | undefined;
  /** The active refresh, and the one after it. */
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Snapshot> | undefined;

  /** @param onRefresh called after each refresh with the number of changed orders and the duration in milliseconds */
  constructor(
    source: Pick<Store, 'changedOrders'>,
    onRefresh: (changed: number, ms: number) => void = () => {},
  ) {
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
      changed += orders.length;
      const entries = orders.map((order) => ({
        id: order.id,
        text: order.status === 'cancelled' ? undefined : orderJson(order),
      }));
      const next = withEntries(draft, entries);
      draft = next.blocks;
      replacedBytes += next.replacedBytes;
    });
    if (position === undefined) return undefined;
    this.#onRefresh(changed, performance.now() - from);
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
