import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { OrderDraft } from '../../../domain/order.ts';
import { actionOf } from '../../../store/audit.ts';
import { SHOWN_DIGITS } from '../../../store/history.ts';
import { type Store, StoreUnavailable } from '../../../store/store.ts';
import { CommandFailed, counted } from '../../terminal/terminal.ts';
import type { Check } from './check-file.ts';

/** Pause between two transactions, for other writers. */
export const PAUSE_MS = 4;

type Checked = Pick<Check, 'source' | 'count' | 'highestId' | 'placedBefore' | 'name' | 'isAgain'>;

/** Writes the orders of an import, batch by batch. */
export class Placer {
  readonly #store: Store;
  readonly #import: Checked;
  readonly #run = randomUUID();
  /** Id of the record of the import. */
  #auditId = 0n;
  #toPassOver: number;
  #batch: { at: string; order: OrderDraft }[] = [];
  /** Number of rows placed, including those of earlier runs. */
  placed: number;
  /** Number of orders that were not in the store before. */
  imported = 0;

  private constructor(store: Store, checked: Checked) {
    this.#store = store;
    this.#import = checked;
    this.#toPassOver = checked.placedBefore;
    this.placed = checked.placedBefore;
  }

  /** Starts or resumes an import. @throws CommandFailed if another run has continued it since the check */
  static async begin(store: Store, checked: Checked): Promise<Placer> {
    const placer = new Placer(store, checked);
    const { source, highestId, placedBefore: from, name, count: total, isAgain } = checked;
    const begin = { source, run: placer.#run, from, highestId, name, total, isAgain };
    const what = [name, counted(total, 'row'), source.slice(0, SHOWN_DIGITS)].join(', ');
    const [auditId, outcome] = await store.apply([
      { type: 'audit', action: actionOf('import', what) },
      { type: 'beginImport', ...begin },
    ]);
    if (outcome !== 'begun') throw new CommandFailed(REASONS[outcome as keyof typeof REASONS]);
    placer.#auditId = auditId as bigint;
    return placer;
  }

  /** Number of rows added since the last `write`. */
  get gathered(): number {
    return this.#batch.length;
  }

  add(at: string, order: OrderDraft): void {
    if (this.#toPassOver > 0) this.#toPassOver -= 1;
    else this.#batch.push({ at, order });
  }

  /** Durably places the rows added since the last `write`. @throws CommandFailed, StoreUnavailable */
  async write(): Promise<void> {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    const orders = batch.map(({ order }) => order);
    const names = { source: this.#import.source, run: this.#run, auditId: this.#auditId };
    const [outcome] = await this.#store.apply([{ type: 'importOrders', ...names, orders }]);
    if (outcome!.refusal !== undefined) {
      const row = 'index' in outcome! ? batch[outcome.index] : undefined;
      const where = row === undefined ? '' : `${row.at}: order ${row.order.id} `;
      throw new CommandFailed(`${where}${REASONS[outcome!.refusal]}`);
    }
    this.imported += outcome!.placed;
    this.placed += batch.length;
    await pause(PAUSE_MS);
  }

  /**
   * Discards the progress record of a completed import.
   * @returns whether the store confirmed it; if not, no order is lost
   */
  async end(): Promise<boolean> {
    const { source } = this.#import;
    try {
      await this.#store.apply([{ type: 'endImport', source, run: this.#run }]);
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailable) return false;
      throw error;
    }
  }
}

const STAYS = 'rows imported so far are kept; run the import again to continue';
const REASONS = {
  order_differs: `was added to the store in the meantime with different values; ${STAYS}`,
  out_of_turn: `another import of the same file was started or finished in the meantime; ${STAYS}`,
  already_imported: 'another import of the same file was finished in the meantime',
  no_ids_left: `the store does not have enough ids left for the orders without one; ${STAYS}`,
} as const;
