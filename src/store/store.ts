import type { ApiKey, Environment } from '../keys/api-key.ts';
import type { ChangeSource, Moment } from '../listing/listing.ts';
import type { PlaceAllOutcome } from '../orders/batch.ts';
import type { OrderCommand, OrderEventType, OrderOutcome } from '../orders/lifecycle.ts';
import type { Order, OrderDraft, OrderId, OrderStatus } from '../orders/order.ts';
import type { Pet } from '../pets/pet.ts';

/** Every write there is. */
export type Command =
  | OrderCommand
  /** Records what the store is for, if that has not been recorded; the outcome is what it is for. */
  | { readonly type: 'recordEnvironment'; readonly environment: Environment }
  /** Marks the store as moved, if its revision is still that one: from now on only `takeBack` is carried out. */
  | { readonly type: 'moveAway'; readonly to: string; readonly revision: bigint }
  /** Undoes `moveAway`. The store gets another id, since the other database may have gone on with this one. */
  | { readonly type: 'takeBack' }
  | { readonly type: 'createKey'; readonly key: ApiKey }
  /** Stores the key if there is none of its environment. */
  | { readonly type: 'createFirstKey'; readonly key: ApiKey }
  | { readonly type: 'revokeKey'; readonly id: string }
  /** Records that requests have come with these keys. */
  | { readonly type: 'recordKeyUse'; readonly ids: readonly string[]; readonly at: number }
  /** Stores pets, each in place of the one with its id if there is one; of two with one id the last. */
  | { readonly type: 'putPets'; readonly pets: readonly Pet[] }
  /**
   * Asks how many rows of an import that has not ended were placed, and above which id orders that bring none
   * get theirs; `source` digests its content.
   */
  | { readonly type: 'importProgress'; readonly source: string }
  /**
   * Begins an import, or goes on with one of which `from` rows were placed; from now on this `run` of
   * it, and no other, is in turn. Ids up to `highestId` are kept free of orders that bring none.
   */
  | {
      readonly type: 'beginImport';
      readonly source: string;
      readonly run: string;
      readonly from: number;
      readonly highestId: OrderId;
    }
  /**
   * Places the next rows of an import, all of them or, if one stands differently in the store, none.
   * Those without an id get the next ones above all others.
   */
  | {
      readonly type: 'importOrders';
      readonly source: string;
      readonly run: string;
      readonly orders: readonly OrderDraft[];
    }
  /** Forgets an import, all of which is placed; until then it does no harm to run it again. */
  | { readonly type: 'endImport'; readonly source: string; readonly run: string };

interface Outcomes {
  place: OrderOutcome;
  cancel: OrderOutcome;
  ship: OrderOutcome;
  recordEnvironment: Environment;
  moveAway: 'moved' | 'changed';
  takeBack: 'taken_back' | 'unchanged';
  createKey: 'created';
  createFirstKey: 'created' | 'unchanged';
  recordKeyUse: 'recorded';
  revokeKey: 'revoked' | 'unchanged' | 'key_not_found';
  putPets: 'stored';
  importProgress: { readonly placed: number; readonly highestId: OrderId };
  beginImport: 'begun' | 'out_of_turn';
  importOrders: PlaceAllOutcome | { readonly refusal: 'out_of_turn' };
  endImport: 'ended' | 'out_of_turn';
}
export type OutcomeOf<C extends Command> = Outcomes[C['type']];

/** What happened to an order, when, and by which API key (absent: an operator). */
export interface OrderEvent {
  readonly revision: bigint;
  readonly type: OrderEventType;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly by?: string | undefined;
}

export interface StoreStatus extends Moment {
  /** What the store is for; undefined until it has been recorded. */
  readonly environment?: Environment | undefined;
  /** The database that it was moved to, for people; undefined for a store that was not moved. */
  readonly movedTo?: string | undefined;
  /** When an order last changed, in milliseconds since the epoch; undefined if none ever has. */
  readonly latestAt?: number | undefined;
  readonly orders: Readonly<Record<OrderStatus, bigint>>;
}

/**
 * Why a store is not available, as metrics and the log name it. "locked": another process has a lock; "slow": no answer in
 * time; "unreachable": no connection; "full": no room on the disk; "damaged": pages of the database are not what was written;
 * "schema": another release has migrated it; "moved": it goes on in another database; "failed": anything else.
 */
export const FAULTS = [
  'locked',
  'slow',
  'unreachable',
  'full',
  'damaged',
  'schema',
  'moved',
  'failed',
] as const;
export type Fault = (typeof FAULTS)[number];

/** The store cannot do it now, or it is not known whether it did: the caller may try again. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly fault: Fault;

  constructor(message: string, fault: Fault, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** Whether an error is of a store that may be available again without an operator. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof StoreUnavailable)) return false;
  return ['unreachable', 'slow', 'locked'].includes(error.fault);
}

/** The store cannot be opened as it is; the message is for the operator. */
export class StoreNotUsable extends Error {
  override readonly name = 'StoreNotUsable';
}

/** Takes a batch of orders; false if it wants no more. */
export type ScanVisit = (orders: readonly Order[]) => Promise<boolean | undefined>;

/** What keeps a store, and how many migrations its schema has. */
export interface Engine {
  readonly name: 'sqlite' | 'postgresql';
  readonly schema: number;
}

/**
 * What every engine promises. All methods reject with StoreUnavailable when the database cannot be
 * reached, is locked for too long, or fails; that is never reported as an outcome.
 */
export interface Store extends ChangeSource {
  readonly engine: Engine;

  /**
   * Carries out `commands` in order, all of them or none, and resolves to their outcomes once that is
   * durable. Orders change by `decide` only, one transaction of the whole database after another, and
   * each change leaves an event. What is refused is refused for what was durable when it was asked.
   */
  apply<C extends Command>(commands: readonly C[]): Promise<OutcomeOf<C>[]>;

  /**
   * See ChangeSource: the orders changed after a moment, from one snapshot that holds all that was
   * durable when it was called, whichever process wrote it. A store has its id from when it is first
   * served; a backup has none, and so gets another each time it is put to use, and so does a store of which
   * the end may have been lost.
   */
  changes(
    since: Moment | undefined,
    visit: (orders: readonly Order[]) => void,
  ): Promise<Moment | undefined>;

  /** Those of the orders that exist, in any status. */
  find(ids: readonly OrderId[]): Promise<Order[]>;

  /** What happened to an order, oldest first. */
  history(id: OrderId): Promise<OrderEvent[]>;

  /**
   * Calls `visit` with all orders in any status, in batches of ascending id and all from one
   * snapshot, waiting for each call to end; until there are no more, or it resolves to false.
   * @param from the lowest id
   */
  scan(visit: ScanVisit, from?: OrderId): Promise<void>;

  pet(id: bigint): Promise<Pet | undefined>;

  /** The keys with these digests, or all of them. */
  keys(digests?: readonly Uint8Array[]): Promise<ApiKey[]>;

  status(): Promise<StoreStatus>;

  /** Lets what is under way end, then lets go of the database. Again is no change. */
  close(): Promise<void>;
}

/**
 * What a store is opened for. "service": to serve it; it waits for locks no longer than its clients do, and gives a
 * store that has no id one, since ETags name it. "migration": to bring its schema to that of this release,
 * which a service does too. "write" and "read": for a command, which has the patience of the person at its
 * terminal and leaves an older schema as it is, since a service of the release before may be running;
 * "read" needs no right to write.
 */
export type Purpose = 'service' | 'migration' | 'write' | 'read';

/** Whether it may change the schema of a store that there is already. */
export function mayMigrate(purpose: Purpose): boolean {
  return purpose === 'service' || purpose === 'migration';
}

/** How to open a store. */
export interface OpenOptions {
  /** Make the database if there is none; otherwise that is an error. */
  readonly create: boolean;
  readonly purpose: Purpose;
  /** Is told when the schema was brought to that of this release: the numbers of migrations before and now. */
  readonly onMigrated?: (from: number, to: number) => void;
  /** The URL as it is now, for each connection that is made; absent where it does not change. */
  readonly currentUrl?: () => string;
  /** Is told of connections that are made and lost. */
  readonly onConnection?: (what: string, details: Readonly<Record<string, unknown>>) => void;
}
