import type { Command } from 'commander';
import { expectEnvironment } from '../store/claim.ts';
import { databaseLabel, openStore } from '../store/open.ts';
import { type DatabaseFlags, databaseCommand, databaseConfig } from './database.ts';
import { say } from './terminal/output.ts';

export function takeBackCommand(): Command {
  return databaseCommand(
    'take-back',
    'use a store again that "copy" has moved to another database; what changed there does not come along',
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
    await store.apply([{ type: 'takeBack' }]);
    say(
      movedTo === undefined
        ? `The store ${label} was not moved.`
        : `The store ${label} can be used again. See to it that ${movedTo} is not.`,
    );
  } finally {
    await store.close();
  }
}
