import { basename } from 'node:path';
import type { Command } from 'commander';
import { ALL_IDS } from '../../../domain/ids.ts';
import { formatTimestamp } from '../../../domain/timestamp.ts';
import type { ImportRecord } from '../../../store/history.ts';
import type { Store } from '../../../store/store.ts';
import {
  type DatabaseFlags,
  databaseCommand,
  databaseConfig,
  withStore,
} from '../../command-database.ts';
import { type Input, openInput } from '../../files/input.ts';
import { CommandFailed, counted, terminal, writeErr, writeJson } from '../../terminal/terminal.ts';
import { BadRows, checkOrders } from './check-file.ts';
import { describeImport } from './imports.ts';
import { placeOrders } from './place-orders.ts';

const COLUMNS = `
Columns (in JSON: fields), all optional, in any order:
  id         int64; if missing, the store assigns the next one
  petId      int64
  quantity   int64, 0 or more
  shipDate   date-time with an offset: 2026-12-01T09:30:00Z
  complete   true or false
  status     pending, shipped or cancelled; if missing, pending
  reference  1 to 255 characters: the integrator's own name of the order
  reason     1 to 64 characters: why a cancelled order was cancelled
  trackingNumber  1 to 128 characters: the carrier's number of a shipped order`;

interface ImportFlags extends DatabaseFlags {
  readonly dryRun?: true;
  readonly json?: true;
  readonly allowLastIds?: true;
  readonly again?: true;
}

export function importCommand(): Command {
  return databaseCommand(
    'import',
    'import orders from NDJSON, CSV or a JSON array; all or none, unless it is killed: then the same file continues',
    `npx store-orders import orders.ndjson
npx store-orders import --dry-run orders.csv
curl -s -H "Authorization: Bearer $KEY" https://old.example/v1/store/orders | npx store-orders import -`,
  )
    .argument('<file>', 'a file, or - for standard input')
    .option('--dry-run', 'check the file without writing anything')
    .option(
      '--again',
      'import content that was imported before: rows without an id become new orders',
    )
    .option('--allow-last-ids', 'import ids that leave few ids for new orders; see "ids"')
    .option('--json', 'print the counts and the problems with rows as a JSON object on stdout')
    .addHelpText('after', COLUMNS)
    .action(importOrders);
}

async function importOrders(file: string, flags: ImportFlags): Promise<void> {
  using input = await openInput(file, terminal().stdin);
  const dryRun = flags.dryRun === true;
  try {
    const { imported, skipped } = flags.dryRun
      ? await tryImport(input, flags)
      : await withStore(flags, 'create', (store) => importInto(store, input, flags));
    if (flags.json) await writeJson({ imported, skipped, dryRun });
    const known = skipped === 0 ? '' : `; ${counted(skipped, 'order')} already existed`;
    writeErr(
      flags.dryRun
        ? `Would import ${counted(imported, 'order')}${known}. Nothing was written.`
        : `Imported ${counted(imported, 'order')}${known}.`,
    );
  } catch (error) {
    if (flags.json && error instanceof BadRows) {
      const { total: badRows, described: problems } = error.problems;
      const { reason } = error;
      await writeJson({ imported: 0, skipped: 0, dryRun, error: reason, badRows, problems });
    }
    throw error;
  }
}

/** Runs only the check. A dry run does not create a database: without one, the file is checked against an empty store. */
async function tryImport(input: Input, flags: ImportFlags) {
  const check = (await databaseConfig(flags).database.exists())
    ? await withStore(flags, 'write', async (store) =>
        checkOrders(input, await sourceOf(store, input, flags)),
      )
    : await checkOrders(input, {
        store: { orders: async () => [] },
        placedBefore: 0,
        freeIds: ALL_IDS,
        mayTakeLastIds: flags.allowLastIds,
      });
  return { imported: check.count - check.known, skipped: check.known };
}

async function importInto(store: Store, input: Input, flags: ImportFlags) {
  const source = await sourceOf(store, input, flags);
  const { count, highestId } = await checkOrders(input, source);
  const imported = await placeOrders(input, store, {
    source: input.digest,
    from: source.placedBefore,
    highestId,
    name: basename(input.name),
    total: count,
    isAgain: flags.again === true,
  });
  return { imported, skipped: count - imported };
}

async function sourceOf(store: Store, { digest }: Input, { allowLastIds, again }: ImportFlags) {
  const { placed, finished, freeIds } = await store.history.importProgress(digest);
  if (finished !== undefined && !again) throw new CommandFailed(alreadyImported(finished));
  await sayUnfinished(store, digest);
  return { store, placedBefore: placed, freeIds, mayTakeLastIds: allowLastIds };
}

function alreadyImported({ name, placed, finishedAt }: ImportRecord): string {
  const what = name === undefined ? 'this content' : `this content (${name})`;
  return (
    `${what} was already imported at ${formatTimestamp(finishedAt!)}, ${counted(placed, 'row')}; nothing was imported. ` +
    'To import it again, use --again; rows without an id then become new orders'
  );
}

/** Names other imports that were interrupted: their ids stay reserved until they are finished. */
async function sayUnfinished(store: Store, digest: string): Promise<void> {
  const others = (await store.history.imports()).filter(
    ({ source, finishedAt }) => finishedAt === undefined && source !== digest,
  );
  for (const each of others) writeErr(`Another import is not finished: ${describeImport(each)}.`);
}
