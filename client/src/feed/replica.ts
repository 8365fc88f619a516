import type { Change, OrderRecord } from '../../../protocol/generated/records.ts';
import { type Call, calling, pause } from '../call.ts';
import { GoneError } from '../errors.ts';
import { LARGEST_PAGE } from '../orders.ts';
import { readPage } from '../request.ts';
import { backoffMs, persistently } from '../retries.ts';
import type { Settings } from '../settings.ts';
import type { Stoppable } from '../stoppable.ts';
import { type ChangesFilter, type FollowOptions, followChanges, verifiedPage } from './changes.ts';
import { verifying } from './verify-history.ts';

/** The position of a copy in the changes of the store. */
export interface ReplicaPosition {
  /** The cursor to resume from. It contains the head of the store's history, so it proves which history the copy was made from. */
  readonly cursor: string;
  /** The latest revision in the copy. */
  readonly revision: bigint;
}

/**
 * Keeps a copy, for example in a database. Changes prove everything about an order but its `etag` and, after it was placed, `placedAt`, so
 * an order should keep the latter. Each method must be atomic, even if the process is killed. Two replicas must not write the same copy:
 * after `load` of a later replica, the methods of an earlier one should reject. An error ends the replica. The service's examples/sqlite-replica.js is an example.
 */
export interface ReplicaStore {
  /** Returns the position of the copy; undefined if there is none. Called once, first. */
  load(): ReplicaPosition | undefined | Promise<ReplicaPosition | undefined>;
  /**
   * Begins a new copy, without orders. Until it is complete, readers of the store should see the previous copy, if there is
   * one.
   */
  reset(): void | Promise<void>;
  /**
   * Writes orders in the given sequence, each replacing the one with the same id, together with the position.
   * @param position undefined while a new copy is incomplete: if the process ends then, `load` must return undefined
   */
  apply(
    orders: readonly OrderRecord[],
    position: ReplicaPosition | undefined,
  ): void | Promise<void>;
}

/** A replica that has changed. */
export interface ReplicaStep {
  /** The latest revision in the copy. */
  readonly revision: bigint;
  /** The changes since the previous step; undefined if the copy was loaded or rebuilt. */
  readonly changes: readonly Change[] | undefined;
}

/** An exact copy of all orders of the store, in memory. */
export interface Copy extends ReplicaStep {
  /** By id; the same map in every step, even after the copy was rebuilt. */
  readonly orders: ReadonlyMap<bigint, OrderRecord>;
}

export type ReplicaOptions = Omit<FollowOptions, 'after' | keyof ChangesFilter>;

/** See StoreOrders.replica, and "Keeping an exact copy" in the service's docs/integrating.md. */
export async function* keepReplica(
  settings: Settings,
  store: ReplicaStore,
  options: ReplicaOptions & Stoppable,
): AsyncGenerator<ReplicaStep, void> {
  let position = await store.load();
  if (position !== undefined) yield { revision: position.revision, changes: undefined };
  for (let failures = 0; ; failures += 1) {
    try {
      if (position === undefined) {
        position = await makeCopy(settings, store, options);
        yield { revision: position.revision, changes: undefined };
      }
      const following = { ...options, after: position.cursor };
      for await (const { changes, cursor } of followChanges(settings, following)) {
        position = { cursor, revision: changes.at(-1)!.revision };
        await store.apply(ordersOf(changes), position);
        failures = 0;
        yield { revision: position.revision, changes };
      }
    } catch (error) {
      if (!isOtherHistory(error)) throw error;
      position = undefined;
      await pause(backoffMs(failures), options.signal);
    }
  }
}

/** See StoreOrders.catchUp. */
export async function catchUp(
  settings: Settings,
  store: ReplicaStore,
  options: ReplicaOptions & Stoppable,
): Promise<ReplicaPosition> {
  let position = await store.load();
  for (let failures = 0; ; failures += 1) {
    try {
      if (position === undefined) return await makeCopy(settings, store, options);
      return await readOn(settings, store, position, options);
    } catch (error) {
      if (!isOtherHistory(error)) throw error;
      position = undefined;
      await pause(backoffMs(failures), options.signal);
    }
  }
}

/** Reads and applies all changes after a position. @throws GoneError */
async function readOn(
  settings: Settings,
  store: ReplicaStore,
  from: ReplicaPosition,
  { headers, signal, verify: wanted }: ReplicaOptions & Stoppable,
): Promise<ReplicaPosition> {
  const verify = verifying(wanted);
  return calling(settings, { headers, signal }, async (call) => {
    for (let position = from; ; ) {
      const query = { after: position.cursor, limit: LARGEST_PAGE };
      const { changes, next, more } = await verifiedPage(call, query, verify);
      if (changes.length > 0) {
        position = { cursor: next, revision: changes.at(-1)!.revision };
        await store.apply(ordersOf(changes), position);
      }
      if (!more) return position;
    }
  });
}

export async function* keepCopy(
  settings: Settings,
  options: ReplicaOptions & Stoppable,
): AsyncGenerator<Copy, void> {
  const memory = new MemoryReplica();
  for await (const step of keepReplica(settings, memory, options)) {
    yield { orders: memory.orders, ...step };
  }
}

/**
 * Copies all orders.
 * @returns the position of the copy
 * @throws GoneError, ChangesLost if the store was replaced, or has lost changes that the copy has
 */
async function makeCopy(
  settings: Settings,
  store: ReplicaStore,
  { headers, signal, verify: wanted }: ReplicaOptions & Stoppable,
): Promise<ReplicaPosition> {
  const verify = verifying(wanted);
  return calling(settings, { headers, signal }, async (call) => {
    const changesAfter = (after: string, limit: number) =>
      verifiedPage(call, { after, limit }, verify);
    await store.reset();
    const { cursors, revision } = await copyPages(call, store);
    const isOneMoment = cursors.length === 1;
    let position = { cursor: cursors[0]!, revision: isOneMoment ? revision : 0n };
    // If the store changed while the pages were read, the changes since the first page bring the copy up to date.
    while (position.revision < revision) {
      const { changes, next } = await changesAfter(position.cursor, LARGEST_PAGE);
      if (changes.length === 0) throw new ChangesLost('the store is older than a page of it was');
      await store.apply(ordersOf(changes), undefined);
      position = { cursor: next, revision: changes.at(-1)!.revision };
    }
    // A page may contain a change that the store has lost since: then reading from its cursor gets 410. If the store loses it later, the
    // position becomes invalid.
    if (!isOneMoment) for (const cursor of cursors) await changesAfter(cursor, 1);
    await store.apply([], position);
    return position;
  });
}

/** @returns the distinct cursors of the pages, in order, and the revision of the last page */
async function copyPages(
  call: Call,
  store: ReplicaStore,
): Promise<{ cursors: readonly string[]; revision: bigint }> {
  const cursors = new Set<string>();
  let revision = 0n;
  let cursor: string | undefined;
  do {
    const query = { limit: LARGEST_PAGE, cursor };
    const page = (await persistently(call, () => readPage(call, 'listOrders', { query })))!;
    // The page comes from a cache, or the store has lost changes.
    if (page.revision < revision) throw new ChangesLost('a page is older than the one before');
    await store.apply(page.orders, undefined);
    cursors.add(page.changesAfter);
    revision = page.revision;
    cursor = page.next;
  } while (cursor !== undefined);
  return { cursors: [...cursors], revision };
}

function ordersOf(changes: readonly Change[]): OrderRecord[] {
  return changes.map(({ order }) => order);
}

/** Whether the store was restored, or has lost changes. Another 410 would be the answer again. */
function isOtherHistory(error: unknown): boolean {
  const isGone = error instanceof GoneError && error.code === 'changes_gone';
  return isGone || error instanceof ChangesLost;
}

/** The copy contains changes that the store no longer has. */
class ChangesLost extends Error {}

class MemoryReplica implements ReplicaStore {
  readonly orders = new Map<bigint, OrderRecord>();
  /** The copy that is being made, while there is another one. */
  #next: Map<bigint, OrderRecord> | undefined;

  load(): undefined {}

  reset(): void {
    this.#next = this.orders.size === 0 ? undefined : new Map();
  }

  apply(orders: readonly OrderRecord[], position: ReplicaPosition | undefined): void {
    const copy = this.#next ?? this.orders;
    for (const order of orders) {
      // A later change does not prove when the order was placed.
      const { placedAt = order.placedAt } = copy.get(order.id) ?? {};
      copy.set(order.id, placedAt === order.placedAt ? order : { ...order, placedAt });
    }
    if (position === undefined || this.#next === undefined) return;
    this.orders.clear();
    for (const [id, order] of this.#next) this.orders.set(id, order);
    this.#next = undefined;
  }
}
