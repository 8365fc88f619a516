import type { Command } from 'commander';
import { expectEnvironment } from '../../store/open-options.ts';
import {
  applyRecorded,
  type DatabaseFlags,
  databaseCommand,
  databaseConfig,
} from '../command-database.ts';
import { writeErr } from '../terminal/terminal.ts';

export function reactivateCommand(): Command {
  return databaseCommand(
    'reactivate',
    'reactivate a store that was moved by "copy"; changes in the new database are not copied back',
    'npx store-orders reactivate --database sqlite:data/store-orders.db',
  )
    .alias('take-back')
    .action(reactivate);
}

async function reactivate(flags: DatabaseFlags): Promise<void> {
  const { database, environment: wanted } = databaseConfig(flags);
  await using store = await database.open({ create: false, purpose: 'write' });
  const { movedTo, environment } = await store.status({ evenIfMoved: true });
  expectEnvironment(database.label, environment, wanted);
  if (movedTo !== undefined) {
    await applyRecorded(store, 'reactivate', `from ${movedTo}`, { type: 'reactivate' });
  }
  writeErr(
    movedTo === undefined
      ? `The store ${database.label} was not moved.`
      : `The store ${database.label} can be used again. Make sure that ${movedTo} is no longer used.`,
  );
}
