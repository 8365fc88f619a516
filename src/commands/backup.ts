import type { Command } from 'commander';
import { backupStore } from '../store/backup.ts';
import { type DatabaseFlags, databaseCommand, databaseConfig } from './database.ts';
import { say } from './terminal/output.ts';

export function backupCommand(): Command {
  return databaseCommand(
    'backup',
    'copy the database to a new file; safe while the service runs',
    'npx store-orders backup backups/2026-11-20.db',
  )
    .argument('<file>', 'the copy; must not exist yet')
    .action(backup);
}

async function backup(file: string, flags: DatabaseFlags): Promise<void> {
  // Without migration: a new release can back up the store that the old release still serves.
  const { databaseUrl } = databaseConfig(flags);
  await backupStore(databaseUrl, file);
  say(`Wrote ${file}.`);
}
