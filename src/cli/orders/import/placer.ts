import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { OrderDraft } from '../../../domain/order.ts';
import { actionOf } from '../../../store/audit.ts';
import type { CommandOf } from '../../../store/commands.ts';
import { SHOWN_DIGITS } from '../../../store/history.ts';
import { type Store, StoreUnavailable } from '../../../store/store.ts';
import { CommandFailed, counted } from '../../terminal/terminal.ts';

/** Pause between two transactions, for other writers. */
export const PAUSE_MS = 4;

/** An import as the store records it, but for its run. */
type Import = Omit<CommandOf<'beginImport'>, 'type' | 'run'>;

/** Writes the orders of an import, batch by batch. */
export class Placer {
  readonly #store: Store;
  readonly #source: string;
  readonly #run = randomUUID();
  /** Id of the record of the import. */
  #auditId = 0n;
  #toPassOver: number;
  #batch: { at: string; order: OrderDraft }[] = [];
  /** Number of rows placed, including those of earlier runs. */
  placed: number;
  /** Number of orders that were not in the store before. */
  imported = 0;

  private constructor(store: Store, { source, from }: Import) {
    this.#store = store;
    this.#source = source;
    this.#toPassOver = from;
    this.placed = from;
  }

  /** Starts or resumes an import. @throws CommandFailed if another run has continued it since the check */
  static async begin(store: Store, begun: Import): Promise<Placer> {
    const placer = new Placer(store, begun);
    const { source, name, total } = begun;
    const what = [name, counted(total, 'row'), source.slice(0, SHOWN_DIGITS)].join(', ');
    const [auditId, outcome] = await store.apply([
      { type: 'audit', action: actionOf('import', what) },
      { type: 'beginImport', run: placer.#run, ...begun },
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
    const names = { source: this.#source, run: this.#run, auditId: this.#auditId };
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
    try {
      await this.#store.apply([{ type: 'endImport', source: this.#source, run: this.#run }]);
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
