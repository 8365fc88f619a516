import type { Command } from 'commander';
import { toJson } from '../../../protocol/exact-json.ts';
import { printable } from '../../domain/text.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { ACKNOWLEDGED, operatorOf } from '../../store/audit.ts';
import {
  applyRecorded,
  type DatabaseFlags,
  databaseCommand,
  databaseConfig,
  withStore,
} from '../command-database.ts';
import {
  CommandFailed,
  naturalNumber,
  printRows,
  writeErr,
  writeOut,
} from '../terminal/terminal.ts';

const MAX_RECORDS = 1_000_000;
/** Records in one write. */
const RECORDS_AT_ONCE = 1_000;

interface AuditFlags extends DatabaseFlags {
  readonly limit: string;
  readonly ndjson?: true;
  readonly acknowledge?: true;
}

export function auditCommand(): Command {
  return databaseCommand(
    'audit',
    'show the recorded commands of operators: keys, imports, restores, copies, migrations, cancels and shipments',
    'npx store-orders audit\nnpx store-orders audit --ndjson --limit 1000000 > audit.ndjson',
  )
    .option('--limit <count>', 'number of latest records to show', '100')
    .option('--ndjson', 'print NDJSON, oldest record first')
    .option(
      '--acknowledge',
      'record that lost changes, and records or keys that were changed by hand, are dealt with, which are reported until then',
    )
    .action(audit);
}

async function acknowledge(flags: DatabaseFlags): Promise<void> {
  const { database } = databaseConfig(flags);
  const { audit: changes } = await database.check({ isSample: true, areRowsSampled: true });
  await withStore(flags, 'write', async (store) => {
    const losses = await store.history.losses();
    const found = [...losses.map(({ what }) => what), ...changes];
    if (found.length === 0) throw new CommandFailed('there is nothing to acknowledge');
    const what = [...losses.map(({ id }) => `record ${id}`), ...changes].join('; ');
    await applyRecorded(store, ACKNOWLEDGED, what);
    for (const each of found) writeErr(`Acknowledged: ${each}.`);
  });
}

async function audit(flags: AuditFlags): Promise<void> {
  if (flags.acknowledge) return acknowledge(flags);
  const limit = naturalNumber('--limit', flags.limit, MAX_RECORDS);
  const latest = await withStore(flags, 'read', (store) => store.history.audit(limit));
  const records = latest
    .toReversed()
    .map(({ at, ...rest }) => ({ at: formatTimestamp(at), ...rest }));
  if (flags.ndjson) {
    for (let from = 0; from < records.length; from += RECORDS_AT_ONCE) {
      const lines = records
        .slice(from, from + RECORDS_AT_ONCE)
        .map((each) => `${printable(toJson(each))}\n`);
      await writeOut(lines.join(''));
    }
    return;
  }
  await printRows(
    records,
    {
      TIME: ({ at }) => at,
      USER: operatorOf,
      COMMAND: ({ command }) => command,
      WHAT: ({ what }) => what,
    },
    'No commands have been recorded yet.',
  );
}
