import type { Command } from 'commander';
import { restoreStore } from '../store/backup.ts';
import { expectEnvironment } from '../store/claim.ts';
import { databaseLabel } from '../store/open.ts';
import { type DatabaseFlags, databaseCommand, databaseConfig } from './database.ts';
import { counted, say } from './terminal/output.ts';

export function restoreCommand(): Command {
  return databaseCommand(
    'restore',
    'put a backup in the place of a SQLite database that is not in use; what was there is kept beside it',
    'npx store-orders restore backups/2026-11-20.db',
  )
    .argument('<file>', 'a backup; it stays as it is')
    .action(restore);
}

async function restore(file: string, flags: DatabaseFlags): Promise<void> {
  const { databaseUrl, environment } = databaseConfig(flags);
  const { findings, kept } = await restoreStore(databaseUrl, file, ({ environment: recorded }) =>
    expectEnvironment(`sqlite:${file}`, recorded, environment),
  );
  const { pending, shipped, cancelled } = findings.orders;
  say(
    `Restored ${counted(pending + shipped + cancelled, 'order')} (${pending} pending, ${shipped} shipped, ` +
      `${cancelled} cancelled) to ${databaseLabel(databaseUrl)}.`,
  );
  if (kept !== undefined)
    say(`What was there is kept as ${kept}; remove it when it is not needed.`);
}
