import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { ORDER_COLUMNS, type OrderDraft, orderOf } from '../files/fields.ts';
import { type Input, openInput } from '../files/input.ts';
import { SeenIds } from '../files/seen-ids.ts';
import { type Located, Problems, readValues } from '../files/values.ts';
import { differingFields, type Order } from '../orders/order.ts';
import type { Store } from '../store/store.ts';
import { type DatabaseFlags, databaseCommand, withStore } from './database.ts';
import { CommandFailed, grouped, say, toJson, writeOut } from './output.ts';
import { showProgress } from './progress.ts';

/** Orders placed in one transaction: some 20 ms in which a running service cannot cancel. */
const BATCH = 2_000;
/** Left to other writers between two transactions. */
const PAUSE_MS = 4;

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
interface Check {
  readonly problems: Problems;
  /** Orders of the file in all, those the store has already, those that leave their id to it. */
  count: number;
  known: number;
  withoutId: number;
  /** Of the ids in the file; 0 if all are negative or there are none. */
  highestId: bigint;
}

async function importOrders(file: string, flags: ImportFlags): Promise<void> {
  const input = await openInput(file);
  try {
    await withStore(flags, 'create', async (store) => {
      const check = await checkOrders(input, store);
      refuseProblems(input, check.problems);
      const startedAt = performance.now();
      const imported = flags.dryRun
        ? check.count - check.known
        : await placeOrders(input, store, check);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      const skipped = check.count - imported;
      if (flags.json) await writeOut(`${toJson({ imported, skipped, dryRun: !!flags.dryRun })}\n`);
      const known = skipped === 0 ? '' : `; ${grouped(skipped)} were in the store already`;
      say(
        flags.dryRun
          ? `${grouped(imported)} orders would be imported${known}. Nothing was written.`
          : `Imported ${grouped(imported)} orders in ${seconds} s${known}.`,
      );
    });
  } finally {
    input.close();
  }
}

/** @throws CommandFailed that describes the first problems, if there are any */
export function refuseProblems(input: Input, { total, described }: Problems): void {
  if (total === 0) return;
  const rest = total - described.length;
  throw new CommandFailed(
    [
      `${input.name} has ${grouped(total)} bad ${total === 1 ? 'row' : 'rows'}; nothing was imported`,
      ...described.map((line) => `  ${line}`),
      ...(rest > 0 ? [`  … and ${grouped(rest)} more`] : []),
    ].join('\n'),
  );
}

/** Reads the whole file and writes nothing. */
async function checkOrders(input: Input, store: Store): Promise<Check> {
  const problems = new Problems();
  const check: Check = { problems, count: 0, known: 0, withoutId: 0, highestId: 0n };
  const seen = new SeenIds();
  const progress = showProgress('Checking ');
  const onBytes = (bytes: number) => progress.update(bytes / input.size, check.count);
  try {
    for await (const rows of readValues(input, ORDER_COLUMNS, orderOf, problems, onBytes)) {
      check.count += rows.length;
      for (const { at, value } of rows) {
        if (value.id === undefined) check.withoutId += 1;
        else {
          const before = seen.add(value.id, at);
          if (before !== undefined) problems.add(at, `repeats the id ${value.id} of ${before}`);
          if (value.id > check.highestId) check.highestId = value.id;
        }
      }
      await compareWithStore(rows, store, check);
    }
  } finally {
    progress.end();
    seen.close();
  }
  return check;
}

async function compareWithStore(
  rows: readonly Located<OrderDraft>[],
  store: Store,
  check: Check,
): Promise<void> {
  const ids = rows.flatMap(({ value }) => (value.id === undefined ? [] : [value.id]));
  const existing = new Map((await store.find(ids)).map((order) => [order.id, order]));
  if (existing.size === 0) return;
  for (const { at, value } of rows) {
    const order = value.id === undefined ? undefined : existing.get(value.id);
    if (order === undefined) continue;
    check.known += 1;
    const fields = differingFields(order, { ...value, id: order.id });
    if (fields.length > 0) {
      check.problems.add(at, `order ${order.id} is in the store with another ${fields.join(', ')}`);
    }
  }
}

/** Reads the file again and places its orders; how many are new. */
async function placeOrders(input: Input, store: Store, check: Check): Promise<number> {
  let nextId = await reserveIds(input, store, check);
  let imported = 0;
  let done = 0;
  const problems = new Problems();
  const progress = showProgress('Importing');
  const onBytes = (bytes: number) => progress.update(bytes / input.size, done);
  const writeBatch = async (batch: readonly Placed[]) => {
    imported += await placeBatch(store, batch);
    done += batch.length;
    await pause(PAUSE_MS);
  };
  // One batch is written while the next one is read.
  let writing = Promise.resolve();
  let batch: Placed[] = [];
  try {
    for await (const rows of readValues(input, ORDER_COLUMNS, orderOf, problems, onBytes)) {
      for (const { at, value } of rows) {
        const order = { ...value, id: value.id ?? nextId++ };
        batch.push({ at, hasOwnId: value.id !== undefined, order });
        if (batch.length < BATCH) continue;
        await writing;
        writing = writeBatch(batch);
        // It is awaited above or below; until then its failure is no unhandled one.
        writing.catch(() => {});
        batch = [];
      }
    }
    await writing;
    await writeBatch(batch);
  } finally {
    progress.end();
  }
  refuseProblems(input, problems);
  if (check.withoutId > 0) {
    await store.apply([{ type: 'finishImport', source: input.digest() }]);
  }
  return imported;
}

interface Placed {
  readonly at: string;
  readonly hasOwnId: boolean;
  readonly order: Order;
}

/** The first of the ids for the orders that bring none, above all others in the store and the file. */
async function reserveIds(input: Input, store: Store, check: Check): Promise<bigint> {
  if (check.withoutId === 0) return 0n;
  const [first] = await store.apply([
    {
      type: 'reserveIds',
      source: input.digest(),
      count: BigInt(check.withoutId),
      above: check.highestId,
    },
  ]);
  if (first === undefined) throw new CommandFailed('there are not enough ids left within int64');
  return first;
}

/** How many of a batch are new. @throws CommandFailed when one stands differently in the store */
async function placeBatch(store: Store, batch: readonly Placed[]): Promise<number> {
  const commands = batch.map(({ order }) => ({ type: 'place', order }) as const);
  const outcomes = await store.apply(commands);
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome !== 'order_differs') continue;
    const { at, order, hasOwnId } = batch[index]!;
    if (!hasOwnId && (await hasMovedOn(store, order))) continue;
    throw new CommandFailed(
      `${at}: order ${order.id} came into the store during the import and differs; ` +
        'what was imported before stays, and the import can be run again',
    );
  }
  return outcomes.filter((outcome) => outcome === 'placed').length;
}

/**
 * Whether an order of an interrupted import, which got its id then, has been cancelled or shipped
 * since: it is in the store as it should be.
 */
async function hasMovedOn(store: Store, placed: Order): Promise<boolean> {
  const [order] = await store.find([placed.id]);
  return (
    order !== undefined &&
    order.status !== placed.status &&
    order.petId === placed.petId &&
    order.quantity === placed.quantity
  );
}
