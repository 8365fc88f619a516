import { MAX_BATCH, outcomeName } from '../../domain/batch.ts';
import { type ChangeCommand, MAX_BULK } from '../../domain/bulk.ts';
import { NO_REVISION } from '../../domain/lifecycle.ts';
import { type OrderId, parseInt64 } from '../../domain/order.ts';
import { orderEtag } from '../../records/etags.ts';
import type { Store } from '../../store/store.ts';
import { applyRecorded, type DatabaseFlags, namesOf, withStore } from '../command-database.ts';
import {
  argument,
  CommandFailed,
  UsageError,
  writeErr,
  writeJson,
  writeOut,
} from '../terminal/terminal.ts';
import {
  readSelection,
  type SelectedOrder,
  type SelectionFlags,
  writeSelection,
} from './selected-orders.ts';

type OutcomeName = ReturnType<typeof outcomeName>;

/** Messages of failures, by outcome. */
const FAILURES: Readonly<Partial<Record<OutcomeName, string>>> = {
  order_not_found: 'does not exist',
  order_already_shipped: 'has shipped and cannot be cancelled',
  order_already_cancelled: 'is cancelled and cannot be shipped',
  order_changed: 'has changed since it was selected',
};

/** Returns the message of a failure; undefined for an order that was changed, or was already in the target state. */
function failureOf(outcome: OutcomeName, done: OutcomeName): string | undefined {
  return outcome === `order_already_${done}` ? undefined : FAILURES[outcome];
}

export interface ChangeFlags extends DatabaseFlags, SelectionFlags {
  readonly json?: true;
}

/** How orders are changed. */
interface OrderChanges {
  /** The ids in the command line. */
  readonly ids: readonly string[];
  readonly commandOf: (id: OrderId) => ChangeCommand;
  /** Name of the command. */
  readonly command: string;
  /** Outcome of a changed order, and its message. */
  readonly done: OutcomeName;
}

/**
 * Changes the named orders in one transaction, or the selected orders in transactions of 1,000. A dry run only shows the selected orders. An
 * order that cannot be changed does not prevent the others.
 * @throws CommandFailed if any order was not changed
 */
export async function changeSelected(changes: OrderChanges, flags: ChangeFlags): Promise<void> {
  const { ids, command, done } = changes;
  const ways = [ids.length > 0, flags.dryRun === true, flags.orders !== undefined];
  if (ways.filter(Boolean).length !== 1) {
    throw new UsageError('name the orders by their ids, or by either --dry-run or --orders');
  }
  const { pet, status, shipsBefore } = flags;
  const isFiltered = [pet, status, shipsBefore].some((each) => each !== undefined);
  if (isFiltered && !flags.dryRun) {
    throw new UsageError('--pet, --status and --ships-before select orders for --dry-run');
  }
  if (flags.dryRun) {
    await withStore(flags, 'read', (store) => writeSelection(store, flags, command));
    return;
  }
  const selection =
    flags.orders === undefined
      ? ids.map((text) => ({ id: orderIdArgument(text) }))
      : await readSelection(flags.orders);
  const most = flags.orders === undefined ? MAX_BATCH : MAX_BULK;
  if (flags.orders === undefined && selection.length > most) {
    throw new UsageError(`at most ${most} orders at a time, not ${selection.length}`);
  }
  const results = await withStore(flags, 'write', async (store) => {
    const all: Result[] = [];
    for (let from = 0; from < selection.length; from += most) {
      const part = await changePart(store, selection.slice(from, from + most), changes);
      // Printed per part, since a later part may fail.
      if (!flags.json) await print(part, done);
      all.push(...part);
    }
    return all;
  });
  if (flags.json) await writeJson(results);
  const failed = results.filter(({ outcome }) => failureOf(outcome, done) !== undefined);
  if (failed.length > 0) {
    throw new CommandFailed(`${failed.length} of ${results.length} were not ${done}`);
  }
}

interface Result {
  readonly id: OrderId;
  readonly outcome: OutcomeName;
}

async function changePart(
  store: Store,
  part: readonly (Pick<SelectedOrder, 'id'> & Partial<SelectedOrder>)[],
  { commandOf, command }: OrderChanges,
): Promise<Result[]> {
  const selected = part.filter(({ etag }) => etag !== undefined).map(({ id }) => id);
  const records = selected.length === 0 ? [] : await store.orders(selected);
  const byId = new Map(records.map((each) => [each.id, each]));
  const commands = part.map(({ id, etag }) => {
    const found = byId.get(id);
    const isSame = found !== undefined && orderEtag(found) === etag;
    const ifRevision = isSame ? found.revision : NO_REVISION;
    return etag === undefined ? commandOf(id) : { ...commandOf(id), ifRevision };
  });
  const names = namesOf(part.map(({ id }) => id));
  const outcomes = await applyRecorded(store, command, names, ...commands);
  return part.map(({ id }, index) => ({ id, outcome: outcomeName(outcomes[index]!) }));
}

async function print(results: readonly Result[], done: OutcomeName): Promise<void> {
  for (const { id, outcome } of results) {
    if (outcome === done) await writeOut(`${id} ${done}\n`);
    else writeErr(`${id} ${failureOf(outcome, done) ?? `was already ${done}`}`);
  }
}

/** Parses an order id. @throws UsageError */
export function orderIdArgument(text: string): bigint {
  return argument(text, parseInt64, 'an order id must be an int64 in plain decimal digits');
}
