import {
  type Decision,
  decide,
  idOf,
  type OrderCommand,
  type OrderEventType,
  type OrderOutcome,
} from './lifecycle.ts';
import { INT64_MAX, type Order, type OrderDraft, type OrderId, type OrderStatus } from './order.ts';

/** An event to be written. `by` is the id of the API key, undefined for operators. */
export interface OrderEventDraft {
  readonly id: OrderId;
  readonly type: OrderEventType;
  readonly by: string | undefined;
}

/** Carries out commands in memory, in order; the engine then writes the changes. */
export class Batch {
  /** The orders that the commands refer to, as they were before. */
  readonly known: ReadonlyMap<OrderId, Order>;
  /** Time of all changes of the batch, in milliseconds since the epoch. */
  readonly now = Date.now();
  /** The changed orders in their final state. */
  readonly changed = new Map<OrderId, Order>();
  readonly events: OrderEventDraft[] = [];
  /** Change in the number of orders per status. */
  readonly statusDeltas: Record<OrderStatus, number> = { pending: 0, shipped: 0, cancelled: 0 };

  /** @param known the existing orders among those that the commands refer to */
  constructor(known: readonly Order[]) {
    this.known = new Map(known.map((order) => [order.id, order]));
  }

  carryOut(command: OrderCommand): OrderOutcome {
    const decision = this.#decide(command);
    this.#record(decision, command.type === 'cancel' ? command.by : undefined);
    return decision.outcome;
  }

  /**
   * Places all orders, or none if one differs from the existing order with its id. Orders without an id are assigned
   * the next ids above `highestId`. All ids must be distinct.
   * @returns the number of new orders, or the reason for the refusal
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

  /** Applies a decision, if it is a change. */
  #record({ outcome, order }: Decision, by: string | undefined): void {
    if (order === undefined) return;
    const before = this.#find(order.id);
    this.changed.set(order.id, order);
    this.events.push({ id: order.id, type: outcome, by });
    if (before !== undefined) this.statusDeltas[before.status] -= 1;
    this.statusDeltas[order.status] += 1;
  }

  /** Returns an order in its current state within the batch. */
  #find(id: OrderId): Order | undefined {
    return this.changed.get(id) ?? this.known.get(id);
  }
}

/** `index` is the position of the order that differs. */
export type PlaceAllOutcome =
  | { readonly placed: number; readonly refusal?: undefined }
  | { readonly refusal: 'no_ids_left' }
  | { readonly refusal: 'order_differs'; readonly index: number };
