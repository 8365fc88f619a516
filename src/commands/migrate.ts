import type { Command } from 'commander';
import { databaseLabel } from '../store/open.ts';
import { type DatabaseFlags, databaseCommand, withStore } from './database.ts';
import { say } from './output.ts';

export function migrateCommand(): Command {
  return databaseCommand(
    'migrate',
    'bring the database to the schema of this release, which "serve" does too if its role may',
    'npx store-orders migrate --database postgres://owner@db.example/orders',
  ).action(migrate);
}

/** Opening a store is what migrates it. */
async function migrate(flags: DatabaseFlags): Promise<void> {
  await withStore(flags, 'create', async (_store, { databaseUrl }) => {
    say(`The schema of ${databaseLabel(databaseUrl)} is that of this release.`);
  });
}
