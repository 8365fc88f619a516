import { Command } from 'commander';
import { contentOf } from '../../service/settings/database-url.ts';
import { actionOf } from '../../store/audit.ts';
import { copyStore } from '../../store/copy.ts';
import { type Database, databaseAt, databaseUrlProblem } from '../../store/database.ts';
import { warnOfPassword } from '../command-database.ts';
import { showProgress } from '../terminal/progress.ts';
import { grouped, UsageError, writeErr } from '../terminal/terminal.ts';

interface CopyFlags {
  readonly from?: string;
  readonly fromFile?: string;
  readonly to?: string;
  readonly toFile?: string;
}

export function copyCommand(): Command {
  return new Command('copy')
    .description('move a whole store to another database, of either engine')
    .option('--from <url>', 'the store to move; first stop every process that writes to it')
    .option('--from-file <file>', 'a file that contains the URL of the store')
    .option('--to <url>', 'an empty database, or the target of an interrupted copy')
    .option('--to-file <file>', 'a file that contains the URL of the target')
    .addHelpText(
      'after',
      `
Examples:
  npx store-orders copy --from sqlite:data/store-orders.db --to postgres://app@db.example/orders
  npx store-orders copy --from-file old-database-url --to-file new-database-url`,
    )
    .action(copy);
}

/** Returns the source or target of a copy, whose URL is given directly or in a file. @throws UsageError */
function databaseOf(
  flag: '--from' | '--to',
  url: string | undefined,
  file: string | undefined,
): Database {
  if ((url === undefined) === (file === undefined)) {
    throw new UsageError(`give either ${flag} or ${flag}-file`);
  }
  if (url !== undefined) warnOfPassword(flag, url);
  const found = url?.trim() ?? contentOf(file!);
  if (found === undefined) throw new UsageError(`${flag}-file must be a readable file`);
  const problem = databaseUrlProblem(found);
  if (problem === undefined) return databaseAt(found);
  throw new UsageError(
    url === undefined ? `the content of ${flag}-file ${problem}` : `${flag} ${problem}`,
  );
}

async function copy(flags: CopyFlags): Promise<void> {
  const from = databaseOf('--from', flags.from, flags.fromFile);
  const to = databaseOf('--to', flags.to, flags.toFile);
  // PostgreSQL is not compared by label: two URLs may select different schemas of one database.
  if (from.url === to.url || (from.file !== undefined && from.label === to.label)) {
    throw new UsageError(`source and target are the same database, ${from.label}`);
  }
  const { orders, revision, head } = await moved(from, to);
  const count = orders.pending + orders.shipped + orders.cancelled;
  const each = `${orders.pending} pending, ${orders.shipped} shipped, ${orders.cancelled} cancelled`;
  writeErr(`Copied ${grouped(count)} orders (${each}) to ${to.label}, and verified them.`);
  writeErr(`Both stores have the head ${revision}-${head}.`);
  const { heads } = await to.check({ isSample: true });
  for (const problem of heads?.problems ?? []) writeErr(`Warning: ${problem}.`);
}

/** Moves a store. The progress ends before anything is said of it. */
async function moved(from: Database, to: Database) {
  using progress = showProgress('Copying');
  return await copyStore(from, to, {
    isMove: true,
    action: actionOf('copy', `from ${from.label} to ${to.label}`),
    onProgress: (step, done, total) => progress.update(done / total, done, step),
  });
}
