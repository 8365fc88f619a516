import { Command } from 'commander';
import { formatTimestamp, timeText } from '../../../domain/timestamp.ts';
import { type ImportRecord, SHOWN_DIGITS } from '../../../store/history.ts';
import {
  applyRecorded,
  type DatabaseFlags,
  databaseCommand,
  withStore,
} from '../../command-database.ts';
import {
  CommandFailed,
  grouped,
  printRows,
  UsageError,
  writeErr,
  writeJson,
} from '../../terminal/terminal.ts';

export function importsCommand(): Command {
  const list = databaseCommand(
    'list',
    'list imports: those that are not finished, and the latest finished ones',
    'npx store-orders imports list\nnpx store-orders imports list --json',
  )
    .option('--json', 'print a JSON array')
    .action(listImports);
  const forget = databaseCommand(
    'forget',
    'delete the record of an import, so that its file can be imported again from the first row',
    'npx store-orders imports forget 3f0a94e1c27d',
  )
    .argument('<digest>', 'the digest shown by "imports list"')
    .action(forgetImport);
  return new Command('imports')
    .description('list imports, and delete their records')
    .addCommand(list, { isDefault: true })
    .addCommand(forget);
}

async function listImports(flags: DatabaseFlags & { json?: true }): Promise<void> {
  const imports = await withStore(flags, 'read', (store) => store.history.imports());
  const empty = 'No imports have been recorded yet.';
  await (flags.json ? writeJson(imports.map(record)) : printRows(imports, COLUMNS, empty));
}

const COLUMNS = {
  DIGEST: ({ source }: ImportRecord) => source.slice(0, SHOWN_DIGITS),
  STARTED: ({ begunAt }: ImportRecord) => timeText(begunAt) ?? 'unknown',
  FINISHED: ({ finishedAt }: ImportRecord) => timeText(finishedAt) ?? 'not finished',
  ROWS: rowsOf,
  FILE: ({ name }: ImportRecord) => name,
};

function record({ begunAt, finishedAt, ...rest }: ImportRecord) {
  return { ...rest, begunAt: timeText(begunAt), finishedAt: timeText(finishedAt) };
}

/** 2,000 of 5,000 */
function rowsOf({ placed, total }: ImportRecord): string {
  return total === undefined || total === placed
    ? grouped(placed)
    : `${grouped(placed)} of ${grouped(total)}`;
}

export function describeImport(each: ImportRecord): string {
  const what = each.name ?? `the content ${each.source.slice(0, SHOWN_DIGITS)}`;
  const since = each.begunAt === undefined ? '' : `, started at ${formatTimestamp(each.begunAt)}`;
  return `${what}${since}, ${rowsOf(each)} rows are placed; import the same file again to continue`;
}

async function forgetImport(digest: string, flags: DatabaseFlags): Promise<void> {
  if (!new RegExp(`^[0-9a-f]{${SHOWN_DIGITS},64}$`).test(digest)) {
    throw new UsageError(
      `the digest must be ${SHOWN_DIGITS} hexadecimal digits or more, not "${digest}"`,
    );
  }
  await withStore(flags, 'write', async (store) => {
    const found = (await store.history.imports()).filter(({ source }) => source.startsWith(digest));
    if (found.length !== 1) throw new CommandFailed(`there is no import ${digest}`);
    const { source, name = '' } = found[0]!;
    const what = `${source.slice(0, SHOWN_DIGITS)} ${name}`.trim();
    await applyRecorded(store, 'imports forget', what, { type: 'forgetImport', source });
    writeErr(`Deleted the record of the import ${digest}.`);
  });
}
