import type { Command } from 'commander';
import { backupStore } from '../store/open.ts';
import { type DatabaseFlags, databaseCommand, withStore } from './database.ts';
import { say } from './output.ts';

export function backupCommand(): Command {
  return databaseCommand(
    'backup',
    'copy the database to a new file, also while the service runs',
    'npx store-orders backup backups/2026-11-20.db',
  )
    .argument('<file>', 'the copy; must not exist yet')
    .action(backup);
}

async function backup(file: string, flags: DatabaseFlags): Promise<void> {
  await withStore(flags, 'must exist', async (_store, { databaseUrl }) => {
    await backupStore(databaseUrl, file);
  });
  say(`Wrote ${file}.`);
}
