import type { Command } from 'commander';
import { type FreeIds, idsLeft } from '../orders/ids.ts';
import { parseInt64 } from '../orders/order.ts';
import { actionOf } from '../store/audit.ts';
import { type DatabaseFlags, databaseCommand, withStore } from './database.ts';
import { applyRecorded } from './recorded.ts';
import { grouped, say, table, UsageError, writeJson, writeOut } from './terminal/output.ts';

interface IdsFlags extends DatabaseFlags {
  readonly last?: string;
  readonly json?: true;
}

export function idsCommand(): Command {
  return databaseCommand(
    'ids',
    'show which ids new orders get, or set the last one: orders above it then no longer count',
    'npx store-orders ids\nnpx store-orders ids --last 8999999999999999999',
  )
    .option('--last <id>', 'the last id that is given to a new order')
    .option('--json', 'as a JSON object')
    .addHelpText(
      'after',
      `
New orders get ids in ascending order, above the highest id in the store. If an order with a very high id was imported,
few ids are left above it, or none: --last lets the store continue above the highest id up to the one given.`,
    )
    .action(ids);
}

async function ids(flags: IdsFlags): Promise<void> {
  const free =
    flags.last === undefined
      ? await withStore(flags, 'read', async (store) => (await store.status()).freeIds)
      : await limitIds(flags, flags.last);
  const { highest, last } = free;
  const left = idsLeft(free);
  const next = left > 0n ? highest + 1n : undefined;
  if (flags.json) await writeJson({ next, last, left });
  else {
    const rows = [
      ['next id', next === undefined ? 'none is left' : String(next)],
      ['last id', String(last)],
      ['left', grouped(left)],
    ];
    await writeOut(`${table(rows)}\n`);
  }
  if (left <= 0n)
    say('New orders are refused until --last is set to an id that leaves room below it.');
}

async function limitIds(flags: IdsFlags, text: string): Promise<FreeIds> {
  const last = parseInt64(text);
  if (last === undefined || last < 1n) {
    throw new UsageError(`--last must be an int64 above 0, not "${text}"`);
  }
  const [free] = await withStore(flags, 'write', (store) =>
    applyRecorded(store, actionOf('ids', `--last ${last}`), [{ type: 'limitIds', last }]),
  );
  return free!;
}
