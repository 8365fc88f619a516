import { type Command, Option } from 'commander';
import { parseExactJson } from '../../../protocol/exact-json.ts';
import {
  INT64_MIN,
  ORDER_STATUSES,
  type OrderId,
  type OrderRecord,
  type OrderStatus,
  parseInt64,
} from '../../domain/order.ts';
import { parseBound, timestampProblem } from '../../domain/timestamp.ts';
import { orderRecordJson } from '../../records/order-json.ts';
import type { OrderFilter } from '../../store/order-filter.ts';
import type { PagePlace } from '../../store/pages.ts';
import type { Store } from '../../store/store.ts';
import { InputProblem, openInput } from '../files/input.ts';
import {
  argument,
  counted,
  terminal,
  UsageError,
  writeErr,
  writeOut,
} from '../terminal/terminal.ts';

/** Flags that select the orders of a command by a filter, or from a dry run. */
export interface SelectionFlags {
  readonly pet?: string;
  readonly status?: OrderStatus;
  readonly shipsBefore?: string;
  readonly dryRun?: true;
  /** A file that a dry run has written. */
  readonly orders?: string;
}

/** An order as a dry run has shown it. */
export interface SelectedOrder {
  readonly id: OrderId;
  readonly etag: string;
}

/** Orders per read. */
const PAGE = 500;
/** Maximum size of a file of orders; about 250,000 of them. */
const MAX_SELECTION_BYTES = 64 * 1024 * 1024;

export function addSelection(command: Command): Command {
  return command
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

/** Writes the orders that match. */
export async function writeSelection(
  store: Store,
  flags: SelectionFlags,
  command: string,
): Promise<void> {
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

function filterOf({ pet, status = 'pending', shipsBefore }: SelectionFlags): OrderFilter {
  const expected = '--pet must be an int64 in plain decimal digits';
  const petId = pet === undefined ? undefined : argument(pet, parseInt64, expected);
  const shipDateBefore = shipsBefore === undefined ? undefined : parseBound(shipsBefore);
  if (shipsBefore !== undefined && shipDateBefore === undefined) {
    throw new UsageError(`--ships-before must be ${timestampProblem(shipsBefore)}`);
  }
  return { petId, shipDateBefore, statuses: [status] };
}

/** Reads the file that a dry run has written. @throws UsageError */
export async function readSelection(file: string): Promise<SelectedOrder[]> {
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
