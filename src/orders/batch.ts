import {
  type Decision,
  decide,
  idOf,
  type OrderCommand,
  type OrderEventType,
  type OrderOutcome,
} from './lifecycle.ts';
import { INT64_MAX, type Order, type OrderDraft, type OrderId, type OrderStatus } from './order.ts';

/** Something that happened to an order. `by` is the id of the API key, absent for operators. */
export interface OrderEventDraft {
  readonly id: OrderId;
  readonly type: OrderEventType;
  readonly by: string | undefined;
}

/** Commands carried out one after another in memory, for an engine to write what came of them. */
export class Batch {
  /** The orders that the commands are about, as they were before. */
  readonly known: ReadonlyMap<OrderId, Order>;
  /** When all of it happens, in milliseconds since the epoch. */
  readonly now = Date.now();
  /** The orders that changed, as they are in the end. */
  readonly changed = new Map<OrderId, Order>();
  readonly events: OrderEventDraft[] = [];
  /** By how much the number of orders in each status grows. */
  readonly statusDeltas: Record<OrderStatus, number> = { pending: 0, shipped: 0, cancelled: 0 };

  /** @param known those of the orders that the commands are about that exist */
  constructor(known: readonly Order[]) {
    this.known = new Map(known.map((order) => [order.id, order]));
  }

  carryOut(command: OrderCommand): OrderOutcome {
    const decision = this.#decide(command);
    this.#record(decision, command.type === 'cancel' ? command.by : undefined);
    return decision.outcome;
  }

  /**
   * Places all orders or, if one stands differently, none. Those without an id get the next ones above
   * `highestId`; no two may have the same id. Resolves to how many are new.
   */
  placeAll(drafts: readonly OrderDraft[], highestId: OrderId): PlaceAllOutcome {
    let nextId = highestId + 1n;
    const orders = drafts.map((draft) => ({ ...draft, id: draft.id ?? nextId++ }));
    if (nextId - 1n > INT64_MAX) return { refusal: 'no_ids_left' };
    const decisions = orders.map((order) => this.#decide({ type: 'place', order }));
    const index = decisions.findIndex(({ outcome }) => outcome === 'order_differs');
    if (index !== -1) return { refusal: 'order_differs', index };
    for (const decision of decisions) this.#record(decision, undefined);
    return { placed: this.changed.size };
  }

  #decide(command: OrderCommand): Decision {
    return decide(this.#find(idOf(command)), command, this.now);
  }

  /** Takes over what was decided, if it is a change. */
  #record({ outcome, order }: Decision, by: string | undefined): void {
    if (order === undefined) return;
    const before = this.#find(order.id);
    this.changed.set(order.id, order);
    this.events.push({ id: order.id, type: outcome, by });
    if (before !== undefined) this.statusDeltas[before.status] -= 1;
    this.statusDeltas[order.status] += 1;
  }

  /** An order as it is by now. */
  #find(id: OrderId): Order | undefined {
    return this.changed.get(id) ?? this.known.get(id);
  }
}

/** `index` is that of the order that differs. */
export type PlaceAllOutcome =
  | { readonly placed: number; readonly refusal?: undefined }
  | { readonly refusal: 'no_ids_left' }
  | { readonly refusal: 'order_differs'; readonly index: number };
