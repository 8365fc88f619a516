import { setTimeout as pause } from 'node:timers/promises';
import type { OrderDraft } from '../files/fields.ts';
import type { NewOrder, Order } from '../orders/order.ts';
import type { Command, OutcomeOf, Store } from '../store/store.ts';
import { CommandFailed } from './output.ts';

/** Left to other writers between two transactions. */
const PAUSE_MS = 4;

/** The orders of one import that are placed together. */
interface Batch {
  readonly withId: { readonly at: string; readonly order: Order }[];
  readonly withoutId: NewOrder[];
}

/** Writes the orders of an import that has been checked, batch by batch. */
export class Placer {
  readonly #store: Store;
  readonly #source: string;
  readonly #check: { readonly withoutId: number; readonly highestId: bigint };
  /** Orders without an id that an earlier run placed, and that are still to be passed over. */
  #toPassOver: number;
  /** Orders without an id that are placed by now, by earlier runs too. */
  #placedWithoutId: number;
  #batch: Batch = { withId: [], withoutId: [] };
  /** Orders that were not in the store before. */
  imported = 0;
  done = 0;

  /** @param placedBefore of the orders without an id, by an earlier run that was interrupted */
  constructor(
    store: Store,
    source: string,
    check: { readonly withoutId: number; readonly highestId: bigint },
    placedBefore: number,
  ) {
    this.#store = store;
    this.#source = source;
    this.#check = check;
    this.#toPassOver = placedBefore;
    this.#placedWithoutId = placedBefore;
  }

  /** Orders added since the last `write`. */
  get gathered(): number {
    return this.#batch.withId.length + this.#batch.withoutId.length;
  }

  add(at: string, draft: OrderDraft): void {
    const { id } = draft;
    if (id !== undefined) this.#batch.withId.push({ at, order: { ...draft, id } });
    else if (this.#toPassOver > 0) this.#toPassOver -= 1;
    else this.#batch.withoutId.push(draft);
  }

  /** Places what was added, durably. @throws CommandFailed, StoreUnavailable */
  async write(): Promise<void> {
    const batch = this.#batch;
    this.#batch = { withId: [], withoutId: [] };
    const commands: Command[] = batch.withId.map(({ order }) => ({ type: 'place', order }));
    if (batch.withoutId.length > 0) commands.push(this.#placeNew(batch.withoutId));
    if (commands.length === 0) return;
    const outcomes = await this.#store.apply(commands);
    for (const [index, outcome] of outcomes.entries()) {
      refuse(outcome, batch.withId[index]);
      if (outcome !== 'placed') continue;
      this.imported += index < batch.withId.length ? 1 : batch.withoutId.length;
    }
    this.done += batch.withId.length + batch.withoutId.length;
    await pause(PAUSE_MS);
  }

  #placeNew(orders: readonly NewOrder[]): Command {
    const from = this.#placedWithoutId;
    this.#placedWithoutId += orders.length;
    const isLast = this.#placedWithoutId === this.#check.withoutId;
    const { highestId: above } = this.#check;
    return { type: 'placeNew', source: this.#source, from, orders, above, isLast };
  }
}

/** @throws CommandFailed for an outcome that ends the import */
function refuse(outcome: OutcomeOf<Command>, placed: Batch['withId'][number] | undefined): void {
  const reason = {
    order_differs: `${placed?.at}: order ${placed?.order.id} came into the store meanwhile and differs`,
    out_of_turn: 'another import of the same file is under way or has just ended',
    no_ids_left: 'int64 has not enough ids left for the orders without one',
  }[outcome as string];
  if (reason === undefined) return;
  throw new CommandFailed(`${reason}; what was imported before stays`);
}
