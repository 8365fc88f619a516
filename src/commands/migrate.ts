import type { Command } from 'commander';
import { databaseLabel, openStore } from '../store/open.ts';
import { type DatabaseFlags, databaseCommand, databaseConfig } from './database.ts';
import { say } from './terminal/output.ts';

export function migrateCommand(): Command {
  return databaseCommand(
    'migrate',
    'create or update the schema; "serve" does this too, if permitted',
    'npx store-orders migrate --database postgres://owner@db.example/orders',
  ).action(migrate);
}

async function migrate(flags: DatabaseFlags): Promise<void> {
  const { databaseUrl } = databaseConfig(flags);
  const label = databaseLabel(databaseUrl);
  let done = `The schema of ${label} is up to date.`;
  const store = await openStore(databaseUrl, {
    create: true,
    purpose: 'migration',
    onMigrated: (from, to) => {
      done = from === 0 ? `Made the store ${label}.` : `Migrated ${label}: schema ${from} → ${to}.`;
    },
  });
  await store.close();
  say(done);
}
