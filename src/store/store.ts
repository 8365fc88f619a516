import type { Position } from '../../protocol/history.ts';
import type { ApiKey, Environment, keyStatus } from '../domain/api-key.ts';
import type { FreeIds } from '../domain/ids.ts';
import type { OrderEventType } from '../domain/lifecycle.ts';
import type { Order, OrderId, OrderRecord, OrderStatus, Pet } from '../domain/order.ts';
import { MAX_LAGS, type Webhook, type WebhookLag } from '../domain/webhook.ts';
import type { ActivityPage, ActivityQuery } from './activity.ts';
import type { OutcomeOf, StoreCommand } from './commands.ts';
import type { ChangePage, FeedStart } from './feed.ts';
import type { History } from './history.ts';
import type { OrderFilter } from './order-filter.ts';
import type { OrderCounts, OrderPage, PageQuery } from './pages.ts';

/** An event in the history of an order: type, time, and the API key that caused it (absent for operators). */
export interface OrderEvent {
  readonly revision: bigint;
  readonly type: OrderEventType;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly by: string | undefined;
}

export interface StoreStatus {
  /** 16 hexadecimal digits, made once, and kept by copies, backups and restores. */
  readonly identity: string;
  readonly revision: bigint;
  /** The environment of the store; undefined until recorded. */
  readonly environment?: Environment | undefined;
  /** Label of the database that the store was moved to, for messages; undefined if it was not moved. */
  readonly movedTo?: string | undefined;
  /** Time of the latest change of an order, in milliseconds since the epoch; undefined if there was none. */
  readonly latestAt?: number | undefined;
  /** When v1's list was last in use, in milliseconds since the epoch, to the hour; undefined: never. */
  readonly listedAt?: number | undefined;
  /** The head of the history as `headText` writes it; undefined until all heads have been computed. */
  readonly head: string | undefined;
  readonly orders: Readonly<Record<OrderStatus, bigint>>;
  /** Ids up to this one are not assigned; 0 for none. */
  readonly reservedId: OrderId;
  readonly freeIds: FreeIds;
}

/**
 * Reason why a store is unavailable, as reported in metrics and the log:
 * - "locked": another process holds a lock
 * - "slow": no answer in time
 * - "unreachable": no connection
 * - "superseded": the server is one that another has replaced, by the promotion of a standby
 * - "full": no disk space left
 * - "damaged": pages of the database are corrupt, or it can lose rows without an error
 * - "replaced": the database was deleted, or replaced by another, while it was in use
 * - "schema": another release has migrated the database
 * - "moved": the store was moved to another database
 * - "failed": anything else
 */
export const FAULTS = [
  'locked',
  'slow',
  'unreachable',
  'superseded',
  'full',
  'damaged',
  'replaced',
  'schema',
  'moved',
  'failed',
] as const;
export type Fault = (typeof FAULTS)[number];

/** The store cannot carry out the operation now, or its result is unknown. The caller may retry. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly fault: Fault;

  constructor(message: string, fault: Fault, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

type KeyState = ReturnType<typeof keyStatus>;

interface KeyPageQuery {
  /** Undefined for any. */
  readonly state: KeyState | undefined;
  /** Where the page before has ended; undefined for the first. */
  readonly after: Pick<ApiKey, 'createdAt' | 'id'> | undefined;
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface KeyPage {
  readonly keys: readonly ApiKey[];
  readonly hasMore: boolean;
  readonly counts: Readonly<Record<KeyState, number>>;
}

/** Returns whether only an operator can make the store available again, as described in the message. */
export function needsOperator(fault: Fault): boolean {
  return ['damaged', 'replaced', 'superseded'].includes(fault);
}

/** Returns whether the store may become available again without an operator. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof StoreUnavailable)) return false;
  return ['unreachable', 'superseded', 'slow', 'locked'].includes(error.fault);
}

/** The store cannot be opened in its present state; the message is for the operator. */
export class StoreNotUsable extends Error {
  override readonly name = 'StoreNotUsable';
}

/** Sizes in bytes. */
export interface StoreSizes {
  readonly database: number;
  /** Of SQLite's write-ahead log; it grows while a reader keeps it from restarting. */
  readonly log?: number;
  /** Left on the disk of an SQLite database. */
  readonly free?: number;
  /** PostgreSQL: how many transactions old snapshots hold back, by the kind of holder. */
  readonly heldBack?: Readonly<Record<SnapshotHolder, number>>;
  /** PostgreSQL: transactions since the oldest id that is still in use; at about 2 billion the server stops. */
  readonly oldestTransactionAge?: number;
  /** PostgreSQL: the timeline of the server; each promotion of a standby begins one. Undefined if the role may not read it. */
  readonly timeline?: number | undefined;
}

/**
 * Kinds of holders of old snapshots: a session (pg_dump, a forgotten transaction), a prepared transaction, or a replication slot. A PostgreSQL
 * server cannot remove old versions of rows before the oldest snapshot, so each change of the row of `store` becomes slower.
 */
export const SNAPSHOT_HOLDERS = ['session', 'prepared_transaction', 'replication_slot'] as const;
type SnapshotHolder = (typeof SNAPSHOT_HOLDERS)[number];

/** Transactions that may be held back; beyond them, reads of the row of `store` take about a millisecond longer. */
export const MAX_HELD_BACK = 20_000;

/** The database engine, and the number of schema migrations in this release. */
export interface Engine {
  readonly name: 'sqlite' | 'postgresql';
  readonly schema: number;
}

/** Whether to read a store that was moved to another database; refused by default. */
export interface MovedOption {
  readonly evenIfMoved: boolean;
}

/**
 * The contract of every engine. All methods, also those of `history`, reject with StoreUnavailable when the database is unreachable, fails or
 * stays locked for too long; such failures are never reported as outcomes. `apply`, and the methods for requests, also reject with it once the
 * store was moved to another database.
 */
export interface Store extends AsyncDisposable {
  readonly engine: Engine;
  /** Reads for commands. */
  readonly history: History;

  /**
   * Carries out `commands` in order and atomically; resolves to their outcomes once the result is durable. Orders
   * change only through `decide`, in transactions that are serialized across the whole database, and each change
   * writes an event. A refusal is based only on durable state.
   */
  apply<C extends StoreCommand>(commands: readonly C[]): Promise<OutcomeOf<C>[]>;

  /**
   * Calls `visit` with every order changed after `since`, each once and all from one snapshot, in batches that are each in
   * ascending id. The snapshot contains everything that was durable at the time of the call, by whichever process it was written.
   * @param since if undefined, visits all orders, except that cancelled ones may be left out
   * @returns the position of the snapshot; undefined, without a visit, if `since` is not in this store's past: the store was restored,
   *   or lost changes
   */
  changedOrders(
    since: Position | undefined,
    visit: (orders: readonly Order[]) => void,
  ): Promise<Position | undefined>;

  /**
   * Returns those of the orders that exist, in any status and order, with their recorded metadata, from one snapshot.
   * @param options whether to read a store that was moved to another database; never for a request
   */
  orders(ids: readonly OrderId[], options?: MovedOption): Promise<OrderRecord[]>;

  /** Returns the ids of the orders with one of these references; of each reference, the latest 10. */
  idsOf(references: readonly string[]): Promise<OrderId[]>;

  /** Returns the next orders that match a filter, from one snapshot. Costs the same wherever the page is. */
  page(query: PageQuery): Promise<OrderPage>;

  /** Counts the orders that match a filter; without a filter, from counters. */
  count(filter: OrderFilter): Promise<OrderCounts>;

  /** Returns the store's own record of itself. Costs the same however many orders there are. @param options see `orders` */
  status(options?: MovedOption): Promise<StoreStatus>;

  /**
   * Returns the next whole revisions of the feed of changes, about `limit` changes: a revision that alone has more is returned whole. No change
   * is ever missing between two pages.
   * @param after a position that an earlier call, or `page`, returned
   * @param limit up to MAX_CHANGES
   * @returns undefined if the position is no longer valid: the store was restored or lost changes
   */
  feed(after: FeedStart, limit: number): Promise<ChangePage | undefined>;

  /** Returns the position before the first change that was recorded at a time or later, in milliseconds since the epoch. */
  positionBefore(time: number): Promise<Position>;

  /**
   * Counts the events of some periods, up to MAX_ROWS_READ in a call. A sequence of calls, each after the previous one, counts every event
   * that was recorded before the first call, once.
   * @returns undefined if `query.after` is no longer valid: the store was restored or lost changes
   */
  activity(query: ActivityQuery): Promise<ActivityPage | undefined>;

  /** Returns the events of an order, oldest first. */
  events(id: OrderId): Promise<OrderEvent[]>;

  /** Returns all webhooks, the oldest first. @param id of the only one to return */
  webhooks(id?: string): Promise<Webhook[]>;

  /** Returns the lag of webhooks that have delivered up to these revisions, MAX_LAGS at most. */
  webhookLags(revisions: readonly bigint[]): Promise<WebhookLag[]>;

  pet(id: bigint): Promise<Pet | undefined>;

  /** Returns the keys with these digests, for requests. Without digests, returns all keys, even of a store that was moved. */
  keys(digests?: readonly Uint8Array[]): Promise<ApiKey[]>;

  key(id: string): Promise<ApiKey | undefined>;

  /** Returns a page of keys, by time and id, and how many there are in each state. */
  keyPage(query: KeyPageQuery): Promise<KeyPage>;

  /** Returns how many webhooks keys have created that exist, by the ids of those that have any. */
  webhookCounts(keyIds: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /** Returns the names of those of the keys that exist, by id. */
  keyNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;

  sizes(): Promise<StoreSizes>;

  /** Resolves once all connections that requests need are established. */
  connected(): Promise<void>;

  /** Waits for pending operations, then closes the database. Idempotent. */
  close(): Promise<void>;
}

/**
 * Returns an order as it was at one position, and its events up to then, oldest first; undefined if the order does not exist.
 * @param options see Store.orders
 */
export async function orderWithHistory(
  store: Pick<Store, 'orders' | 'events'>,
  id: OrderId,
  options?: MovedOption,
) {
  const [order] = await store.orders([id], options);
  if (order === undefined) return undefined;
  // Read after the order: an event that was recorded in between belongs to a later state.
  const events = await store.events(id);
  return { order, events: events.filter(({ revision }) => revision <= order.revision) };
}

export type LaggingWebhook = Awaited<ReturnType<typeof lagsOf>>[number];

/** Reads the lags of webhooks, a few at a time, so that other reads need not wait. */
export async function lagsOf(store: Pick<Store, 'webhookLags'>, webhooks: readonly Webhook[]) {
  const revisions = webhooks.map(({ position, examined }) => (examined ?? position).revision);
  const different = [...new Set(revisions)];
  const lags: WebhookLag[] = [];
  for (let from = 0; from < different.length; from += MAX_LAGS) {
    lags.push(...(await store.webhookLags(different.slice(from, from + MAX_LAGS))));
  }
  const byRevision = new Map(different.map((revision, index) => [revision, lags[index]!]));
  return webhooks.map((webhook, index) => ({ webhook, lag: byRevision.get(revisions[index]!)! }));
}
