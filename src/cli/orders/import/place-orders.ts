import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { MAX_BATCH } from '../../../domain/batch.ts';
import type { OrderDraft } from '../../../domain/order.ts';
import { actionOf } from '../../../store/audit.ts';
import type { CommandOf } from '../../../store/commands.ts';
import { SHOWN_DIGITS } from '../../../store/history.ts';
import { type Store, StoreUnavailable } from '../../../store/store.ts';
import { ORDER_FIELDS, orderOf } from '../../files/fields.ts';
import type { Input } from '../../files/input.ts';
import { readValues } from '../../files/rows.ts';
import { showProgress } from '../../terminal/progress.ts';
import { CommandFailed, counted, writeErr } from '../../terminal/terminal.ts';

/** Pause between two transactions, for other writers. */
export const PAUSE_MS = 4;

interface Placed {
  readonly at: string;
  readonly value: OrderDraft;
}

/**
 * Reads a file that was checked again, and durably places its orders, batch by batch. Starts an import, or continues one.
 * @param begun the import as the store records it
 * @returns the number of orders that were not in the store before
 * @throws CommandFailed if another run has continued the import since the check; InputProblem, StoreUnavailable
 */
export async function placeOrders(
  input: Input,
  store: Store,
  begun: Omit<CommandOf<'beginImport'>, 'type' | 'run'>,
): Promise<number> {
  const { source, from, name, total } = begun;
  const run = randomUUID();
  const what = [name, counted(total, 'row'), source.slice(0, SHOWN_DIGITS)].join(', ');
  const [auditId, outcome] = await store.apply([
    { type: 'audit', action: actionOf('import', what) },
    { type: 'beginImport', run, ...begun },
  ]);
  if (outcome !== 'begun') throw new CommandFailed(REASONS[outcome as keyof typeof REASONS]);

  using progress = showProgress('Importing');
  /** Rows, including those of earlier runs. */
  let placed = from;
  let imported = 0;
  const place = async (rows: readonly Placed[]) => {
    const orders = rows.map(({ value }) => value);
    const names = { source, run, auditId: auditId as bigint };
    const [result] = await store.apply([{ type: 'importOrders', ...names, orders }]);
    if (result!.refusal !== undefined) {
      const row = 'index' in result! ? rows[result.index] : undefined;
      const where = row === undefined ? '' : `${row.at}: order ${row.value.id} `;
      throw new CommandFailed(`${where}${REASONS[result!.refusal]}`);
    }
    imported += result!.placed;
    placed += rows.length;
    await pause(PAUSE_MS);
  };

  let toPassOver = from;
  let batch: Placed[] = [];
  // One batch is written while the next is read.
  let writing = Promise.resolve();
  for await (const rows of readValues(input.read(), ORDER_FIELDS, orderOf)) {
    progress.update(input.share, placed);
    for (const row of rows) {
      if (row.problem !== undefined) continue;
      if (toPassOver > 0) toPassOver -= 1;
      else batch.push(row);
      if (batch.length < MAX_BATCH) continue;
      await writing;
      writing = place(batch);
      batch = [];
      // Awaited above or below; prevents an unhandled rejection until then.
      writing.catch(() => {});
    }
  }
  await writing;
  if (batch.length > 0) await place(batch);
  try {
    await store.apply([{ type: 'endImport', source, run }]);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    writeErr(
      'All orders were placed, but the store did not confirm the end of the import. If you import the file again, the orders may be skipped.',
    );
  }
  return imported;
}

const STAYS = 'rows imported so far are kept; run the import again to continue';
const REASONS = {
  order_differs: `was added to the store in the meantime with different values; ${STAYS}`,
  out_of_turn: `another import of the same file was started or finished in the meantime; ${STAYS}`,
  already_imported: 'another import of the same file was finished in the meantime',
  no_ids_left: `the store does not have enough ids left for the orders without one; ${STAYS}`,
} as const;
