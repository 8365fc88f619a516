import { type Command, Option } from 'commander';
import { parseExactJson } from '../../../protocol/exact-json.ts';
import { MAX_BATCH, outcomeName } from '../../domain/batch.ts';
import { type ChangeCommand, MAX_BULK } from '../../domain/bulk.ts';
import { NO_REVISION } from '../../domain/lifecycle.ts';
import {
  INT64_MIN,
  ORDER_STATUSES,
  type OrderId,
  type OrderRecord,
  type OrderStatus,
  parseInt64,
} from '../../domain/order.ts';
import { parseBound, timestampProblem } from '../../domain/timestamp.ts';
import { orderEtag } from '../../records/etags.ts';
import { orderRecordJson } from '../../records/order-json.ts';
import type { OrderFilter } from '../../store/order-filter.ts';
import type { PagePlace } from '../../store/pages.ts';
import type { Store } from '../../store/store.ts';
import {
  applyRecorded,
  type DatabaseFlags,
  databaseCommand,
  withStore,
} from '../command-database.ts';
import { InputProblem, openInput } from '../files/input.ts';
import {
  argument,
  CommandFailed,
  counted,
  terminal,
  UsageError,
  writeErr,
  writeJson,
  writeOut,
} from '../terminal/terminal.ts';

type OutcomeName = ReturnType<typeof outcomeName>;

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

export interface ChangeFlags extends DatabaseFlags {
  readonly pet?: string;
  readonly status?: OrderStatus;
  readonly shipsBefore?: string;
  readonly dryRun?: true;
  /** A file that a dry run has written. */
  readonly orders?: string;
  readonly json?: true;
}

/** Creates a command for orders: those that it names, or those that a dry run has found. */
export function changeCommand(name: string, description: string, examples: string): Command {
  return databaseCommand(name, description, examples)
    .argument('[id...]', 'ids of the orders')
    .option('--pet <id>', 'with --dry-run: orders of this pet')
    .addOption(
      new Option(
        '--status <status>',
        'with --dry-run: orders with this status (default: pending)',
      ).choices(ORDER_STATUSES),
    )
    .option('--ships-before <time>', 'with --dry-run: orders with a shipDate before this time')
    .option(
      '--dry-run',
      'write the orders that match to stdout as NDJSON, each with its ETag; change nothing',
    )
    .option(
      '--orders <file>',
      'a file that --dry-run has written, or - for standard input: change exactly these orders, if they are still as they were',
    );
}

interface OrderChanges {
  /** The ids in the command line. */
  readonly ids: readonly string[];
  readonly commandOf: (id: OrderId) => ChangeCommand;
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
  const selection: readonly SelectedOrder[] =
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

interface SelectedOrder {
  readonly id: OrderId;
  /** As a dry run has shown it; undefined if the order was named. */
  readonly etag?: string;
}

interface Result {
  readonly id: OrderId;
  readonly outcome: OutcomeName;
}

async function changePart(
  store: Store,
  part: readonly SelectedOrder[],
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

export function orderIdArgument(text: string): bigint {
  return argument(text, parseInt64, 'an order id must be an int64 in plain decimal digits');
}

/** "orders 1, 2, 3", or the first ones and the number of all. */
function namesOf(ids: readonly bigint[]): string {
  const shown = ids.slice(0, 20).join(', ');
  return ids.length > 20 ? `${shown}, … (${counted(ids.length, 'order')})` : shown;
}

/** Orders per read. */
const PAGE = 500;
/** Maximum size of a file of orders; about 250,000 of them. */
const MAX_SELECTION_BYTES = 64 * 1024 * 1024;

async function writeSelection(store: Store, flags: ChangeFlags, command: string): Promise<void> {
  let count = 0;
  for await (const orders of matchingOrders(store, filterOf(flags))) {
    count += orders.length;
    // The record has its ETag.
    await writeOut(orders.map((order) => `${orderRecordJson(order)}\n`).join(''));
  }
  writeErr(
    `Found ${counted(count, 'order')}. To change exactly these, pass the output: ` +
      `npx store-orders ${command} --orders FILE`,
  );
}

/** The orders that match, in ascending id, in parts. @param from the first id */
export async function* matchingOrders(
  store: Store,
  filter: OrderFilter,
  from = INT64_MIN,
): AsyncGenerator<readonly OrderRecord[], void> {
  let after: PagePlace | undefined =
    from === INT64_MIN ? undefined : { sortKey: [], id: (from - 1n) as OrderId };
  do {
    const page = await store.page({ filter, isDescending: false, after, limit: PAGE });
    yield page.orders;
    after = page.next;
  } while (after !== undefined);
}

function filterOf({ pet, status = 'pending', shipsBefore }: ChangeFlags): OrderFilter {
  const expected = '--pet must be an int64 in plain decimal digits';
  const petId = pet === undefined ? undefined : argument(pet, parseInt64, expected);
  const shipDateBefore = shipsBefore === undefined ? undefined : parseBound(shipsBefore);
  if (shipsBefore !== undefined && shipDateBefore === undefined) {
    throw new UsageError(`--ships-before must be ${timestampProblem(shipsBefore)}`);
  }
  return { petId, shipDateBefore, statuses: [status] };
}

/** Reads the file that a dry run has written. @throws UsageError */
async function readSelection(file: string): Promise<SelectedOrder[]> {
  const chunks: Buffer[] = [];
  try {
    using input = await openInput(file, terminal().stdin);
    if (input.size > MAX_SELECTION_BYTES) {
      throw new UsageError(`${file} is larger than ${MAX_SELECTION_BYTES} bytes; split it`);
    }
    for await (const chunk of input.read()) chunks.push(chunk);
  } catch (error) {
    if (error instanceof InputProblem) throw new UsageError(error.message);
    throw error;
  }
  const lines = Buffer.concat(chunks).toString('utf8').split('\n');
  return lines.flatMap((line, index) => (line.trim() === '' ? [] : [selected(line, index + 1)]));
}

function selected(line: string, number: number): SelectedOrder {
  try {
    const { id, etag } = parseExactJson(line).value as Record<string, unknown>;
    if (typeof id === 'bigint' && typeof etag === 'string') return { id, etag };
  } catch {}
  throw new UsageError(`line ${number} is not an order that --dry-run has written`);
}
