import type { Command } from 'commander';
import { ORDER_COLUMNS, orderOf } from '../files/fields.ts';
import { type Input, openInput } from '../files/input.ts';
import { SeenIds } from '../files/seen-ids.ts';
import { type Located, Problems, readValues } from '../files/values.ts';
import {
  differingFields,
  INT64_MAX,
  type Order,
  type OrderDraft,
  type OrderId,
} from '../orders/order.ts';
import type { Store } from '../store/store.ts';
import { type DatabaseFlags, databaseCommand, databaseExists, withStore } from './database.ts';
import { CommandFailed, counted, grouped, say, toJson, writeOut } from './output.ts';
import { type Checked, Placer } from './placer.ts';
import { showProgress } from './progress.ts';

/** Orders placed in one transaction: some 20 ms in which a running service cannot cancel. */
const BATCH = 2_000;

interface ImportFlags extends DatabaseFlags {
  readonly dryRun?: true;
  readonly json?: true;
}

export function importCommand(): Command {
  return databaseCommand(
    'import',
    'place the orders of a file: NDJSON, CSV or a JSON array; all of them or, if any is bad, none',
    `npx store-orders import orders.ndjson
npx store-orders import --dry-run orders.csv
curl -s -H "Authorization: Bearer $KEY" https://old.example/v1/store/orders | npx store-orders import -`,
  )
    .argument('<file>', 'a file, or - for standard input')
    .option('--dry-run', 'check everything, write nothing')
    .option('--json', 'the counts as a JSON object on stdout')
    .action(importOrders);
}

/** What the first reading of a file found. */
interface Check extends Checked {
  readonly problems: Problems;
  count: number;
  highestId: bigint;
  /** Orders that are still to be placed and bring no id, and where the last of them stands. */
  withoutId: number;
  lastWithoutId: string;
  /** Orders that the store has already. */
  known: number;
}

/** What a check needs of a store; a store that does not exist has neither orders nor imports. */
interface CheckSource {
  /** As Store.find. */
  readonly find: (ids: readonly OrderId[]) => Promise<Order[]>;
  /** Rows that an earlier run of the same import placed. */
  readonly placedBefore: number;
  /** Orders without an id get those above it. */
  readonly highestId: OrderId;
}

async function importOrders(file: string, flags: ImportFlags): Promise<void> {
  const input = await openInput(file);
  try {
    const { imported, skipped } = flags.dryRun
      ? await tryImport(input, flags)
      : await withStore(flags, 'create', (store) => importInto(store, input));
    if (flags.json) await writeOut(`${toJson({ imported, skipped, dryRun: !!flags.dryRun })}\n`);
    const known = skipped === 0 ? '' : `; ${counted(skipped, 'order')} of it were there already`;
    say(
      flags.dryRun
        ? `Would import ${counted(imported, 'order')}${known}. Nothing was written.`
        : `Imported ${counted(imported, 'order')}${known}.`,
    );
  } finally {
    input.close();
  }
}

/** The check alone, against an empty store if there is none: a dry run makes no database. */
async function tryImport(input: Input, flags: ImportFlags) {
  const check = (await databaseExists(flags))
    ? await withStore(flags, 'write', async (store) =>
        checkOrders(input, await sourceOf(store, input)),
      )
    : await checkOrders(input, { find: async () => [], placedBefore: 0, highestId: 0n });
  refuseProblems(input, check.problems, check.count);
  return { imported: check.count - check.known, skipped: check.known };
}

async function importInto(store: Store, input: Input) {
  const check = await checkOrders(input, await sourceOf(store, input));
  refuseProblems(input, check.problems, check.count);
  const imported = await placeOrders(input, store, check);
  return { imported, skipped: check.count - imported };
}

async function sourceOf(store: Store, { digest }: Input): Promise<CheckSource> {
  const [progress] = await store.apply([{ type: 'importProgress', source: digest }]);
  const { placed, highestId } = progress!;
  return { find: (ids) => store.find(ids), placedBefore: placed, highestId };
}

/**
 * @param count of rows in the input
 * @throws CommandFailed that describes the first problems, or says that there is not one row
 */
export function refuseProblems(input: Input, { total, described }: Problems, count: number): void {
  if (count === 0) throw new CommandFailed(`${input.name} has no rows; nothing was imported`);
  if (total === 0) return;
  const rest = total - described.length;
  throw new CommandFailed(
    [
      `${input.name} has ${counted(total, 'bad row')}; nothing was imported`,
      ...described.map((line) => `  ${line}`),
      ...(rest > 0 ? [`  … and ${grouped(rest)} more`] : []),
    ].join('\n'),
  );
}

/** Reads the whole file and writes nothing. */
async function checkOrders(
  input: Input,
  { find, placedBefore, highestId }: CheckSource,
): Promise<Check> {
  const problems = new Problems();
  const check: Check = {
    problems,
    source: input.digest,
    placedBefore,
    count: 0,
    known: 0,
    highestId: 0n,
    withoutId: 0,
    lastWithoutId: '',
  };
  const seen = new SeenIds();
  const progress = showProgress('Checking ');
  const onBytes = (bytes: number) => progress.update(bytes / input.size, check.count);
  try {
    for await (const rows of readValues(input, ORDER_COLUMNS, orderOf, onBytes)) {
      const existing = await ordersById(rows, find);
      for (const row of rows) {
        check.count += 1;
        const problem = row.problem ?? checkOrder(row.at, row.value, existing, seen, check);
        if (problem !== undefined) problems.add(row.at, problem);
      }
    }
  } finally {
    progress.end();
    seen.close();
  }
  checkIdsLeft(check, highestId);
  return check;
}

/** Whether all orders without an id will get one: those above all ids that are taken. */
function checkIdsLeft(check: Check, highestInStore: OrderId): void {
  const highest = check.highestId > highestInStore ? check.highestId : highestInStore;
  if (BigInt(check.withoutId) <= INT64_MAX - highest) return;
  check.problems.add(
    check.lastWithoutId,
    `has no id, and above ${highest} int64 has ${INT64_MAX - highest} left; the file needs ${check.withoutId}`,
  );
}

async function ordersById(
  rows: readonly Located<OrderDraft>[],
  find: CheckSource['find'],
): Promise<Map<OrderId, Order>> {
  const ids = rows.flatMap((row) => (row.problem === undefined ? (row.value.id ?? []) : []));
  return new Map((await find(ids)).map((order) => [order.id, order]));
}

/** Counts an order of the file, and says what stands in its way. */
function checkOrder(
  at: string,
  draft: OrderDraft,
  existing: ReadonlyMap<OrderId, Order>,
  seen: SeenIds,
  check: Check,
): string | undefined {
  const { id } = draft;
  if (id !== undefined) {
    if (id > check.highestId) check.highestId = id;
    const repetition = seen.add(id, at);
    if (repetition !== undefined) return repetition;
  }
  if (check.count <= check.placedBefore) {
    // It was placed, and may have been cancelled or shipped since.
    check.known += 1;
    return undefined;
  }
  if (id === undefined) {
    check.withoutId += 1;
    check.lastWithoutId = at;
    return undefined;
  }
  const order = existing.get(id);
  if (order === undefined) return undefined;
  check.known += 1;
  const fields = differingFields(order, { ...draft, id: order.id });
  return fields.length === 0
    ? undefined
    : `order ${id} is in the store with another ${fields.join(', ')}`;
}

/** Reads the file again and places its orders; how many are new. */
async function placeOrders(input: Input, store: Store, check: Check): Promise<number> {
  const placer = await Placer.begin(store, check);
  const progress = showProgress('Importing');
  const onBytes = (bytes: number) => progress.update(bytes / input.size, placer.placed);
  // One batch is written while the next one is read.
  let writing = Promise.resolve();
  try {
    for await (const rows of readValues(input, ORDER_COLUMNS, orderOf, onBytes)) {
      for (const { at, value } of rows.filter((row) => row.problem === undefined)) {
        placer.add(at, value);
        if (placer.gathered < BATCH) continue;
        await writing;
        writing = placer.write();
        // It is awaited above or below; until then its failure is no unhandled one.
        writing.catch(() => {});
      }
    }
    await writing;
    await placer.write();
    if (!(await placer.end())) {
      say(
        'All orders are placed, but the end was not confirmed: the same file may count as placed.',
      );
    }
  } finally {
    progress.end();
  }
  return placer.imported;
}
