import type { Command } from 'commander';
import { actionOf } from '../../store/audit.ts';
import { expectEnvironment } from '../../store/claim.ts';
import { openStore } from '../../store/open.ts';
import { databaseLabel } from '../../store/url.ts';
import { type DatabaseFlags, databaseCommand, databaseConfig } from '../command-database.ts';
import { applyRecorded } from '../recorded.ts';
import { writeErr } from '../terminal/output.ts';

export function takeBackCommand(): Command {
  return databaseCommand(
    'take-back',
    'reactivate a store that was moved by "copy"; changes in the new database are not copied back',
    'npx store-orders take-back --database sqlite:data/store-orders.db',
  ).action(takeBack);
}

async function takeBack(flags: DatabaseFlags): Promise<void> {
  const { databaseUrl, environment: wanted } = databaseConfig(flags);
  const store = await openStore(databaseUrl, { create: false, purpose: 'write' });
  try {
    const { movedTo, environment } = await store.status();
    expectEnvironment(databaseUrl, environment, wanted);
    const label = databaseLabel(databaseUrl);
    if (movedTo !== undefined) {
      const action = actionOf('take-back', `from ${movedTo}`);
      await applyRecorded(store, action, [{ type: 'reactivate' }]);
    }
    writeErr(
      movedTo === undefined
        ? `The store ${label} was not moved.`
        : `The store ${label} can be used again. Make sure that ${movedTo} is no longer used.`,
    );
  } finally {
    await store.close();
  }
}
