import { type Command, Option } from 'commander';
import { type FreeIds, idsLeft } from '../../domain/ids.ts';
import { parseInt64 } from '../../domain/order.ts';
import type { CommandOf } from '../../store/commands.ts';
import {
  applyRecorded,
  type DatabaseFlags,
  databaseCommand,
  withStore,
} from '../command-database.ts';
import {
  fieldsText,
  grouped,
  UsageError,
  writeErr,
  writeJson,
  writeOut,
} from '../terminal/terminal.ts';

interface IdsFlags extends DatabaseFlags {
  readonly last?: string;
  readonly skip?: true;
  readonly json?: true;
}

export function idsCommand(): Command {
  return databaseCommand(
    'ids',
    'show the ids for new orders, set the last one, or skip some',
    'npx store-orders ids\nnpx store-orders ids --last 8999999999999999999\nnpx store-orders ids --skip',
  )
    .option(
      '--last <id>',
      'the last id that may be assigned to a new order; existing ids above it are then ignored',
    )
    .addOption(
      new Option(
        '--skip',
        'skip ids as after a restore, for a store that was rolled back in a way that it cannot detect',
      ).conflicts('last'),
    )
    .option('--json', 'print a JSON object')
    .addHelpText(
      'after',
      `
New orders get ids in ascending order, above the highest id in the store. If an order with a very high id was imported,
few or no ids are left above it. With --last, the store continues above the highest id that is not above that limit.`,
    )
    .action(ids);
}

async function ids(flags: IdsFlags): Promise<void> {
  const free = await freeIdsAfter(flags);
  const { highest, last } = free;
  const left = idsLeft(free);
  const next = left > 0n ? highest + 1n : undefined;
  if (flags.json) await writeJson({ next, last, left });
  else {
    const fields = { 'next id': next ?? 'none', 'last id': last, left: grouped(left) };
    await writeOut(fieldsText(fields));
  }
  if (left <= 0n)
    writeErr('New orders are rejected until --last is set to an id with free ids below it.');
}

async function freeIdsAfter(flags: IdsFlags): Promise<FreeIds> {
  if (flags.skip) return change(flags, '--skip', { type: 'skipIds' });
  if (flags.last === undefined) {
    const status = await withStore(flags, 'read', (store) => store.status({ evenIfMoved: true }));
    return status.freeIds;
  }
  const last = parseInt64(flags.last);
  if (last === undefined || last < 1n) {
    throw new UsageError(`--last must be an int64 above 0, not "${flags.last}"`);
  }
  return change(flags, `--last ${last}`, { type: 'limitIds', last });
}

async function change(
  flags: IdsFlags,
  what: string,
  command: CommandOf<'limitIds' | 'skipIds'>,
): Promise<FreeIds> {
  const [free] = await withStore(flags, 'write', (store) =>
    applyRecorded(store, 'ids', what, command),
  );
  return free!;
}
