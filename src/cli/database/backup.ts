import type { Command } from 'commander';
import { positionText } from '../../../protocol/history.ts';
import { invisibleIn } from '../../domain/text.ts';
import { backupStore } from '../../store/copy.ts';
import { canBeLeftOut } from '../../store/expected-schema.ts';
import type { Findings } from '../../store/tables/consistency.ts';
import { type DatabaseFlags, databaseCommand, databaseConfig } from '../command-database.ts';
import { counted, grouped, UsageError, writeErr } from '../terminal/terminal.ts';

export function backupCommand(): Command {
  return databaseCommand(
    'backup',
    'copy the database to a new file and check the copy; safe while the service runs',
    'npx store-orders backup /backup/2026-11-20.db',
  )
    .argument('<file>', 'the file to create; its folder must exist, the file must not')
    .action(backup);
}

async function backup(file: string, flags: DatabaseFlags): Promise<void> {
  if (file === '') throw new UsageError('the file must have a name');
  if (file === '-') throw new UsageError('a backup is not written to standard output; name a file');
  const invisible = invisibleIn(file);
  if (invisible !== undefined) {
    throw new UsageError(`the name of the file must not contain ${invisible}`);
  }
  // Without a migration, so that a new release can back up a store that the old release serves.
  const { database } = databaseConfig(flags);
  const { bytes, findings, leftovers } = await backupStore(database, file);
  const { pending, shipped, cancelled } = findings.orders;
  const orders = counted(pending + shipped + cancelled, 'order');
  writeErr(`Wrote ${file}, ${orders} in ${grouped(bytes)} bytes, and checked it.`);
  for (const line of historyLines(findings)) writeErr(line);
  for (const each of leftovers) {
    writeErr(
      `${each} is left from an interrupted backup. Delete it unless another backup is running.`,
    );
  }
}

/** Returns lines for the operator: the head, to be kept, and what a check found that neither a backup nor a restore is refused for. */
export function historyLines({ revision, head, heads, audit, foreign }: Findings): string[] {
  const left = foreign.map((each) =>
    canBeLeftOut(each)
      ? `${each}; it is restored only --without-foreign-objects`
      : `${each}; restore refuses this file`,
  );
  const altered = [...(heads?.problems ?? []), ...audit, ...left];
  return [
    ...(head === undefined ? [] : [`Its head is ${positionText({ revision, head })}.`]),
    ...altered.map((problem) => `Warning: ${problem}.`),
  ];
}
