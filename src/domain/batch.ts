import {
  type BulkCommand,
  type BulkOutcome,
  type ChangeCommand,
  type ChangeResult,
  isDone,
} from './bulk.ts';
import type { ChainedEvent } from './heads.ts';
import { Allowance, type HourlyUse, type LIMITED_ACTIONS } from './hourly-limit.ts';
import { ALL_IDS, type FreeIds } from './ids.ts';
import { type Decision, decide, type KnownOrder, type OrderCommand } from './lifecycle.ts';
import {
  byId,
  differingFields,
  type Order,
  type OrderDraft,
  type OrderId,
  type OrderStatus,
} from './order.ts';
import type {
  Placement,
  PlaceOrderCommand,
  PlaceOrderOutcome,
  RepeatableRequest,
  RequestName,
} from './placement.ts';

export type BatchCommand = OrderCommand | PlaceOrderCommand | BulkCommand;

/**
 * Maximum number of commands in one transaction, and so of changes in one revision; stated in the contract of v2. The batch after a full one
 * waits about 20 ms.
 */
export const MAX_BATCH = 2_000;

const BATCH_COMMANDS = ['insertOrder', 'cancel', 'ship', 'placeOrder', 'bulk'];

/** Returns how many orders a command changes at most. */
export function changesOf(command: BatchCommand): number {
  return command.type === 'bulk' ? command.changes.length : 1;
}

export function isBatchCommand(command: { readonly type: string }): command is BatchCommand {
  return BATCH_COMMANDS.includes(command.type);
}

export type OrderOutcome =
  | Decision['outcome']
  /** `retryAt`: when the key may cancel again, in milliseconds since the epoch. */
  | { readonly refusal: 'cancel_limit_reached'; readonly retryAt: number };

export type BatchOutcome = OrderOutcome | PlaceOrderOutcome | BulkOutcome;

export function outcomeName(outcome: OrderOutcome): Decision['outcome'] | 'cancel_limit_reached' {
  return typeof outcome === 'string' ? outcome : outcome.refusal;
}

/** What an engine must read before it can carry out commands. */
export interface Lookups {
  readonly ids: readonly OrderId[];
  /** Placements, by API key and idempotency key. */
  readonly placements: readonly RequestName[];
  /** References of new orders, by API key. */
  readonly references: readonly ReferenceName[];
  /** Commands for several orders, by API key and idempotency key. */
  readonly bulkRequests: readonly RequestName[];
  /** Keys whose recent cancels, or placements, count. */
  readonly limitedKeys: readonly LimitedKey[];
}

export interface LimitedKey {
  readonly by: string;
  readonly action: (typeof LIMITED_ACTIONS)[number];
}

export interface ReferenceName {
  readonly by: string;
  readonly reference: string;
}

/** A command for several orders with its outcome, as stored. */
interface BulkRequest extends RepeatableRequest {
  readonly results: readonly ChangeResult[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The state of the store on which the outcomes of commands depend. */
export interface Known {
  /** Those of the orders that exist. */
  readonly orders: readonly KnownOrder[];
  /** Needed to place orders without an id. */
  readonly freeIds?: FreeIds | undefined;
  readonly placements?: readonly Placement[];
  /** With the orders as they were placed. */
  readonly references?: readonly { readonly by: string; readonly placed: Order }[];
  readonly bulkRequests?: readonly BulkRequest[];
  readonly uses?: readonly (HourlyUse & LimitedKey)[];
}

export function lookupsOf(commands: readonly BatchCommand[]): Lookups {
  const ids = new Set<OrderId>();
  const placements: PlaceOrderCommand[] = [];
  const references: ReferenceName[] = [];
  const bulkRequests: RepeatableRequest[] = [];
  const limited = new Map<string, LimitedKey>();
  const limit = (key: LimitedKey) => limited.set(nameOfLimit(key), key);
  for (const command of commands) {
    if (command.type === 'bulk') {
      for (const { id } of command.changes) ids.add(id);
      if (command.repeatable !== undefined) bulkRequests.push(command.repeatable);
      const [first] = command.changes;
      if (first?.cancelsPerHour !== undefined) limit({ by: first.by!, action: 'cancel' });
      continue;
    }
    if (command.type === 'placeOrder') {
      const { by, draft } = command;
      placements.push(command);
      if (command.placesPerHour !== undefined) limit({ by, action: 'place' });
      if (draft.reference !== undefined) references.push({ by, reference: draft.reference });
    } else ids.add(idOf(command));
    if (command.type === 'cancel' && command.cancelsPerHour !== undefined) {
      limit({ by: command.by!, action: 'cancel' });
    }
  }
  return {
    ids: [...ids],
    placements,
    references,
    bulkRequests,
    limitedKeys: [...limited.values()],
  };
}

export interface OrderEventDraft extends ChainedEvent {
  readonly id: OrderId;
  /** The order before a shipment, which overwrites its date. */
  readonly before: Order | undefined;
}

/** Carries out commands in memory, in order; the engine then writes the changes. */
export class Batch {
  /** Time of all changes of the batch, in milliseconds since the epoch. */
  readonly now = Date.now();
  /** The orders that the commands refer to, as they were before. */
  readonly known: ReadonlyMap<OrderId, KnownOrder>;
  /** The changed orders in their final state. */
  readonly changed = new Map<OrderId, Order>();
  readonly events: OrderEventDraft[] = [];
  /** Change in the number of orders per status. */
  readonly statusDeltas: Record<OrderStatus, number> = { pending: 0, shipped: 0, cancelled: 0 };
  /** New placements; their revision is that of the batch. */
  readonly placements: Omit<Placement, 'revision'>[] = [];
  /** Placements for which there was an order already, by their reference. */
  readonly found: Placement[] = [];
  /** Commands for several orders that can be repeated, to be stored. */
  readonly bulkRequests: BulkRequest[] = [];
  /** API keys for which the references of new orders are unique, by order. */
  readonly referenceKeys = new Map<OrderId, string>();
  /** Of API keys with a limit. */
  readonly #allowances = new Map<string, LimitedKey & { readonly allowance: Allowance }>();
  readonly #placements: Map<string, Omit<Placement, 'revision'> & { revision?: bigint }>;
  readonly #bulkRequests: Map<string, BulkRequest>;
  /** Orders as they were placed, by API key and reference. */
  readonly #references: Map<string, Order>;
  readonly #uses: ReadonlyMap<string, readonly HourlyUse[]>;
  /** The ids that were free before. */
  readonly freeIds: FreeIds | undefined;
  #nextId: OrderId;
  readonly #lastId: OrderId;

  constructor(known: Known) {
    const { orders, freeIds, placements = [], references = [], uses = [] } = known;
    this.known = new Map(orders.map((each) => [each.order.id, each]));
    this.freeIds = freeIds;
    this.#lastId = (freeIds ?? ALL_IDS).last;
    this.#nextId = (freeIds?.highest ?? this.#lastId) + 1n;
    this.#placements = new Map(
      placements.map((each) => [nameOfKey(each.by, each.idempotencyKey), each]),
    );
    this.#bulkRequests = new Map(
      known.bulkRequests?.map((each) => [nameOfKey(each.by, each.idempotencyKey), each]),
    );
    this.#references = new Map(
      references.map(({ by, placed }) => [nameOfKey(by, placed.reference!), placed]),
    );
    this.#uses = Map.groupBy(uses, nameOfLimit);
  }

  /**
   * Carries out commands in order.
   * @returns the outcomes, once the revision of the batch is known
   */
  carryOutAll(commands: readonly BatchCommand[]): (revision: bigint) => BatchOutcome[] {
    const outcomes = commands.map((command) => {
      if (command.type === 'bulk') return this.#bulk(command);
      return command.type === 'placeOrder' ? this.#placeOrder(command) : this.#carryOut(command);
    });
    return (revision) =>
      outcomes.map((outcome) => (typeof outcome === 'function' ? outcome(revision) : outcome));
  }

  /**
   * Places all orders, or none if one differs from the existing order with its id. Orders without an id are assigned
   * the next ids. All ids must be distinct.
   * @returns the number of new orders, or the reason for the refusal
   */
  insertAll(drafts: readonly OrderDraft[]): PlaceAllOutcome {
    const orders = drafts.map((draft) => ({ ...draft, id: draft.id ?? this.#takeId() }));
    if (this.#nextId - 1n > this.#lastId) return { refusal: 'no_ids_left' };
    const decisions = orders.map((order) => this.#decide({ type: 'insertOrder', order }));
    const index = decisions.findIndex(({ outcome }) => outcome === 'order_differs');
    if (index !== -1) return { refusal: 'order_differs', index };
    for (const decision of decisions) this.#record(decision, undefined);
    return { placed: this.changed.size };
  }

  /** Returns what keys with a limit have taken from it. */
  taken(): (LimitedKey & { readonly count: number })[] {
    return [...this.#allowances.values()].flatMap(({ by, action, allowance: { taken } }) =>
      taken === 0 ? [] : { by, action, count: taken },
    );
  }

  /** Returns the events in the order of the feed. */
  eventsInOrder(): OrderEventDraft[] {
    // An order that is placed and changed in one batch has two events, which stay in their order.
    return this.events.toSorted((a, b) => (a.id === b.id ? 0 : byId(a, b)));
  }

  #carryOut(command: OrderCommand): OrderOutcome {
    const decision = this.#decide(command);
    const by = command.type === 'insertOrder' ? undefined : command.by;
    if (decision.outcome === 'cancelled' && command.type === 'cancel') {
      const allowance = this.#allowanceOf(command);
      if (allowance?.take() === false) {
        return { refusal: 'cancel_limit_reached', retryAt: allowance.retryAt() };
      }
    }
    this.#record(decision, by);
    return decision.outcome;
  }

  #bulk({ changes, isAtomic, repeatable }: BulkCommand): BulkOutcome {
    if (repeatable !== undefined) {
      const earlier = this.#bulkRequests.get(nameOfKey(repeatable.by, repeatable.idempotencyKey));
      if (earlier !== undefined) {
        if (earlier.digest !== repeatable.digest) return { refusal: 'idempotency_key_reused' };
        return this.#replay(earlier, changes);
      }
    }
    const refusal = isAtomic ? this.#whyNotAll(changes) : undefined;
    if (refusal !== undefined) return refusal;
    const outcomes = changes.map((change) => this.#carryOut(change));
    const results = outcomes.map((outcome) => outcomeName(outcome) as ChangeResult);
    // A repetition of a command that has changed nothing may succeed later.
    if (repeatable !== undefined && results.some(isDone)) {
      const changed = { ...repeatable, results, at: this.now };
      this.bulkRequests.push(changed);
      this.#bulkRequests.set(nameOfKey(repeatable.by, repeatable.idempotencyKey), changed);
    }
    const limited = outcomes.find((outcome) => typeof outcome === 'object');
    return { results, isReplay: false, retryAt: limited?.retryAt };
  }

  #replay({ results }: BulkRequest, changes: readonly ChangeCommand[]): BulkOutcome {
    if (!results.includes('cancel_limit_reached')) return { results, isReplay: true };
    const allowance = this.#allowanceOfAll(changes);
    // The key may cancel again by now, or has no limit any more.
    const retryAt = allowance?.has(1) === false ? allowance.retryAt() : this.now;
    return { results, isReplay: true, retryAt };
  }

  /** Returns why some of the changes cannot be made; undefined if all can. */
  #whyNotAll(changes: readonly ChangeCommand[]): BulkOutcome | undefined {
    const results = changes.map((change) => this.#decide(change).outcome as ChangeResult);
    if (!results.every(isDone)) return { refusal: 'orders_not_changed', results };
    const allowance = this.#allowanceOfAll(changes);
    if (allowance === undefined || allowance.has(changes.length)) return undefined;
    if (changes.length > allowance.limit) {
      // However long the key waits.
      const tooMany = results.fill('cancel_limit_reached', allowance.limit);
      return { refusal: 'orders_not_changed', results: tooMany };
    }
    return { refusal: 'cancel_limit_reached', retryAt: allowance.retryAt(changes.length) };
  }

  #placeOrder(
    command: PlaceOrderCommand,
  ): PlaceOrderOutcome | ((revision: bigint) => PlaceOrderOutcome) {
    const { draft, by, idempotencyKey, digest } = command;
    const name = nameOfKey(by, idempotencyKey);
    const earlier = this.#placements.get(name);
    if (earlier !== undefined) {
      if (earlier.digest !== digest) return { refusal: 'idempotency_key_reused' };
      const { id, at } = earlier;
      if (earlier.revision === NOT_PLACED) return { id, isReplay: true };
      return (revision) => ({ id, revision: earlier.revision ?? revision, at, isReplay: true });
    }
    const taken = this.#orderOf(command);
    if (taken !== undefined) {
      const { id } = taken;
      if (differingFields(taken, { ...draft, id }).length > 0)
        return { refusal: 'reference_taken' };
      const found = { by, idempotencyKey, digest, id, at: this.now, revision: NOT_PLACED };
      this.found.push(found);
      this.#placements.set(name, found);
      return { id, isReplay: true };
    }
    // Before the limit: a key that has reached it would wait in vain.
    if (this.#nextId > this.#lastId) return { refusal: 'no_ids_left' };
    const allowance = this.#limitOf({ by, action: 'place' }, command.placesPerHour);
    if (allowance?.take() === false) {
      return { refusal: 'place_limit_reached', retryAt: allowance.retryAt() };
    }
    const id = this.#takeId();
    const order = { ...draft, id };
    this.#record(decide(undefined, { type: 'insertOrder', order }, this.now), by);
    if (draft.reference !== undefined) {
      this.referenceKeys.set(id, by);
      this.#references.set(nameOfKey(by, draft.reference), order);
    }
    const placement = { by, idempotencyKey, digest, id, at: this.now };
    this.placements.push(placement);
    this.#placements.set(name, placement);
    return (revision) => ({ id, revision, at: this.now, isReplay: false });
  }

  /** Returns the order that has the reference of a placement. */
  #orderOf({ by, draft: { reference } }: PlaceOrderCommand): Order | undefined {
    return reference === undefined ? undefined : this.#references.get(nameOfKey(by, reference));
  }

  #takeId(): OrderId {
    const id = this.#nextId;
    this.#nextId = id + 1n;
    return id;
  }

  /** All changes of a command are of one key. */
  #allowanceOfAll([first]: readonly ChangeCommand[]): Allowance | undefined {
    return first?.type === 'cancel' ? this.#allowanceOf(first) : undefined;
  }

  #allowanceOf({
    by,
    cancelsPerHour,
  }: Extract<OrderCommand, { type: 'cancel' }>): Allowance | undefined {
    return by === undefined ? undefined : this.#limitOf({ by, action: 'cancel' }, cancelsPerHour);
  }

  #limitOf(key: LimitedKey, perHour: number | undefined): Allowance | undefined {
    if (perHour === undefined) return undefined;
    const name = nameOfLimit(key);
    const known = this.#allowances.get(name);
    if (known !== undefined) return known.allowance;
    const allowance = new Allowance(perHour, this.#uses.get(name) ?? [], this.now);
    this.#allowances.set(name, { ...key, allowance });
    return allowance;
  }

  #decide(command: OrderCommand): Decision {
    return decide(this.#find(idOf(command)), command, this.now);
  }

  /** Applies a decision, if it is a change. */
  #record({ outcome, order }: Decision, by: string | undefined): void {
    if (order === undefined) return;
    const before = this.#find(order.id)?.order;
    this.changed.set(order.id, order);
    if (order.id >= this.#nextId && order.id <= this.#lastId) this.#nextId = order.id + 1n;
    this.events.push({
      id: order.id,
      type: outcome,
      at: this.now,
      by,
      before: outcome === 'shipped' ? before : undefined,
      order,
    });
    if (before !== undefined) this.statusDeltas[before.status] -= 1;
    this.statusDeltas[order.status] += 1;
  }

  /** Returns an order in its current state within the batch. */
  #find(id: OrderId): KnownOrder | undefined {
    const order = this.changed.get(id);
    return order === undefined ? this.known.get(id) : { order, revision: undefined };
  }
}

/** The revision of a placement that found an order with its reference, and placed none. */
const NOT_PLACED = 0n;

/** `index` is the position of the order that differs. */
export type PlaceAllOutcome =
  | { readonly placed: number; readonly refusal?: undefined }
  | { readonly refusal: 'no_ids_left' }
  | { readonly refusal: 'order_differs'; readonly index: number };

function idOf(command: OrderCommand): OrderId {
  return command.type === 'insertOrder' ? command.order.id : command.id;
}

/** Returns a text that is unique for an API key and one of its idempotency keys, or one of its references. */
function nameOfKey(by: string, name: string): string {
  return `${by} ${name}`;
}

function nameOfLimit({ by, action }: LimitedKey): string {
  return `${by} ${action}`;
}
