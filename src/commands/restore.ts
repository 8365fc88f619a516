import type { Command } from 'commander';
import { expectEnvironment } from '../store/claim.ts';
import { restoreStore } from '../store/maintenance/backup.ts';
import { databaseLabel } from '../store/url.ts';
import { type DatabaseFlags, databaseCommand, databaseConfig } from './database.ts';
import { counted, say } from './terminal/output.ts';

export function restoreCommand(): Command {
  return databaseCommand(
    'restore',
    'replace a SQLite database that is not in use with a backup; keeps the old one beside it',
    'npx store-orders restore backups/2026-11-20.db',
  )
    .argument('<file>', 'the backup; not modified')
    .action(restore);
}

async function restore(file: string, flags: DatabaseFlags): Promise<void> {
  const { databaseUrl, environment } = databaseConfig(flags);
  const { findings, kept, nextId } = await restoreStore(
    databaseUrl,
    file,
    ({ environment: recorded }) => expectEnvironment(`sqlite:${file}`, recorded, environment),
  );
  const { pending, shipped, cancelled } = findings.orders;
  say(
    `Restored ${counted(pending + shipped + cancelled, 'order')} (${pending} pending, ${shipped} shipped, ` +
      `${cancelled} cancelled) to ${databaseLabel(databaseUrl)}.`,
  );
  say(`New orders get ids from ${nextId} on, so that no id is given a second time.`);
  if (kept !== undefined)
    say(`The previous database is kept as ${kept}; delete it when you no longer need it.`);
}
