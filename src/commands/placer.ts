import { setTimeout as pause } from 'node:timers/promises';
import type { OrderDraft } from '../files/fields.ts';
import type { NewOrder, Order } from '../orders/order.ts';
import type { Command, OutcomeOf, Store } from '../store/store.ts';
import { CommandFailed } from './output.ts';

/** Left to other writers between two transactions. */
const PAUSE_MS = 4;

/** Rows of one import that are placed together. */
interface Batch {
  readonly withId: { readonly at: string; readonly order: Order }[];
  readonly withoutId: NewOrder[];
}

/** An import that has been checked. */
export interface Checked {
  /** Digest of the content. */
  readonly source: string;
  /** Rows in all. */
  readonly count: number;
  /** Of the ids in it. */
  readonly highestId: bigint;
  /** Rows that an earlier run placed, which was interrupted. */
  readonly placedBefore: number;
}

/** Writes the orders of an import, batch by batch. */
export class Placer {
  readonly #store: Store;
  readonly #import: Checked;
  /** Rows that are still to be passed over, and rows that are placed by now, both from the first. */
  #toPassOver: number;
  #placed: number;
  #batch: Batch = { withId: [], withoutId: [] };
  /** Orders that were not in the store before. */
  imported = 0;

  constructor(store: Store, checked: Checked) {
    this.#store = store;
    this.#import = checked;
    this.#toPassOver = checked.placedBefore;
    this.#placed = checked.placedBefore;
  }

  /** Rows of the import that are placed. */
  get placed(): number {
    return this.#placed;
  }

  /** Rows added since the last `write`. */
  get gathered(): number {
    return this.#batch.withId.length + this.#batch.withoutId.length;
  }

  add(at: string, draft: OrderDraft): void {
    const { id } = draft;
    if (this.#toPassOver > 0) this.#toPassOver -= 1;
    else if (id === undefined) this.#batch.withoutId.push(draft);
    else this.#batch.withId.push({ at, order: { ...draft, id } });
  }

  /** Places what was added, durably. @throws CommandFailed, StoreUnavailable */
  async write(): Promise<void> {
    const rows = this.gathered;
    if (rows === 0) return;
    const { withId, withoutId } = this.#batch;
    this.#batch = { withId: [], withoutId: [] };
    const commands: Command[] = withId.map(({ order }) => ({ type: 'place', order }));
    const outcomes = await this.#store.apply([...commands, this.#advance(rows, withoutId)]);
    for (const [index, outcome] of outcomes.entries()) {
      refuse(outcome, withId[index]);
      if (outcome === 'placed') this.imported += 1;
    }
    this.imported += withoutId.length;
    this.#placed += rows;
    await pause(PAUSE_MS);
  }

  #advance(rows: number, orders: readonly NewOrder[]): Command {
    const { source, count, highestId: above } = this.#import;
    const from = this.#placed;
    const isLast = from + rows === count;
    return { type: 'advanceImport', source, from, rows, orders, above, isLast };
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
