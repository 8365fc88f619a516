import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { actionOf } from '../../store/audit.ts';
import { expectEnvironment } from '../../store/open-options.ts';
import { type DatabaseFlags, databaseCommand, databaseConfig } from '../command-database.ts';
import { compressionOfFile } from '../files/compressed.ts';
import { CommandFailed, counted, writeErr } from '../terminal/terminal.ts';
import { historyLines } from './backup.ts';

export function restoreCommand(): Command {
  return databaseCommand(
    'restore',
    'replace an SQLite database that is not in use with a backup; keeps the old database next to it',
    'npx store-orders restore backups/2026-11-20.db',
  )
    .argument('<file>', 'the backup; not modified')
    .option(
      '--another-store',
      'replace the database although it is of another store than the backup',
    )
    .option(
      '--without-foreign-objects',
      'leave out triggers, views, indexes, and tables that refer to those of the store, which the program did not make',
    )
    .action(restore);
}

async function restore(
  file: string,
  flags: DatabaseFlags & { anotherStore?: true; withoutForeignObjects?: true },
): Promise<void> {
  const { database, environment } = databaseConfig(flags);
  // Other kinds of files, which can be read only once, are refused by the restore.
  const isFile = existsSync(file) && statSync(file).isFile();
  const compression = isFile ? await compressionOfFile(file) : undefined;
  if (compression !== undefined) {
    const { name, command } = compression;
    throw new CommandFailed(
      `${file} is compressed with ${name}; decompress it into a file, for example with "${command} ${file} > backup.db"`,
    );
  }
  if (database.file === undefined) {
    throw new CommandFailed(
      '"restore" supports only SQLite; to restore a backup into an empty PostgreSQL database, use "copy --from sqlite:FILE"',
    );
  }
  const { findings, kept, nextId, undone } = await database.file.restore(file, {
    accept: ({ environment: recorded }) =>
      expectEnvironment(`sqlite:${resolve(file)}`, recorded, environment),
    action: actionOf('restore', file),
    mayBeAnother: flags.anotherStore === true,
    dropsForeign: flags.withoutForeignObjects === true,
  });
  const { pending, shipped, cancelled } = findings.orders;
  writeErr(
    `Restored ${counted(pending + shipped + cancelled, 'order')} (${pending} pending, ${shipped} shipped, ` +
      `${cancelled} cancelled) to ${database.label}.`,
  );
  for (const line of historyLines(findings)) writeErr(line);
  writeErr(`New orders get ids from ${nextId}, so that no id is assigned twice.`);
  writeErr(
    'API keys and webhooks are as in the backup: see "keys list" and "webhooks list", and revoke, delete, pause and rotate again what was since; an invitation that was redeemed since can be redeemed again.',
  );
  for (const line of undone) writeErr(`  after the backup, ${line}`);
  if (kept !== undefined)
    writeErr(`The previous database is kept as ${kept}; delete it when you no longer need it.`);
}
