import type { Command } from 'commander';
import {
  applyRecorded,
  type DatabaseFlags,
  databaseCommand,
  databaseConfig,
  withStore,
} from '../command-database.ts';
import { CommandFailed, writeErr } from '../terminal/terminal.ts';

export function rechainCommand(): Command {
  return databaseCommand(
    'rechain',
    'compute the heads of the history again, after rows were changed by hand',
    'npx store-orders check\nnpx store-orders rechain',
  ).action(rechain);
}

async function rechain(flags: DatabaseFlags): Promise<void> {
  const { heads } = await databaseConfig(flags).database.check();
  if (heads === undefined) {
    throw new CommandFailed('the heads of the store cannot be checked; see "store-orders check"');
  }
  if (heads.isIncomplete) {
    throw new CommandFailed(
      'there are events whose orders were deleted; delete these events first, or restore the orders',
    );
  }
  const { firstAltered: from } = heads;
  if (from === undefined) {
    writeErr('The history is what its heads prove; nothing was changed.');
    return;
  }
  await withStore(flags, 'write', (store) =>
    applyRecorded(store, 'rechain', `from revision ${from}`, { type: 'rechain', from }),
  );
  writeErr(
    `The heads from revision ${from} on were computed again. Cursors of changes from there on are no longer valid.`,
  );
}
