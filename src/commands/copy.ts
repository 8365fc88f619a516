import { Command } from 'commander';
import { copyStore } from '../store/copy.ts';
import { databaseLabel, databaseUrlProblem } from '../store/open.ts';
import { grouped, say, UsageError } from './output.ts';
import { showProgress } from './progress.ts';

export function copyCommand(): Command {
  return new Command('copy')
    .description('move a whole store to another database, of either engine')
    .requiredOption('--from <url>', 'the store; nothing may write to it meanwhile')
    .requiredOption('--to <url>', 'an empty database, or one that an interrupted copy left')
    .addHelpText(
      'after',
      `
Examples:
  npx store-orders copy --from sqlite:data/store-orders.db --to postgres://app@db.example/orders
  npx store-orders copy --from postgres://app@db.example/orders --to sqlite:data/store-orders.db`,
    )
    .action(copy);
}

async function copy({ from, to }: { from: string; to: string }): Promise<void> {
  for (const [flag, url] of [
    ['--from', from],
    ['--to', to],
  ] as const) {
    const problem = databaseUrlProblem(url);
    if (problem !== undefined) throw new UsageError(`${flag} ${problem}`);
  }
  // Of PostgreSQL two URLs may lead to two schemas of one database.
  if (from === to || (from.startsWith('sqlite:') && databaseLabel(from) === databaseLabel(to))) {
    throw new UsageError('--from and --to are the same database');
  }
  let progress = showProgress('Copying  ');
  let isVerifying = false;
  try {
    const { orders } = await copyStore(from, to, {
      isMove: true,
      onProgress: (what, done, total) => {
        if (what === 'Verifying' && !isVerifying) {
          isVerifying = true;
          progress.end();
          progress = showProgress('Verifying');
        }
        progress.update(done / total, done);
      },
    });
    progress.end();
    const count = orders.pending + orders.shipped + orders.cancelled;
    const each = `${orders.pending} pending, ${orders.shipped} shipped, ${orders.cancelled} cancelled`;
    say(`Copied ${grouped(count)} orders (${each}) to ${databaseLabel(to)}, and verified them.`);
  } catch (error) {
    progress.end();
    throw error;
  }
}
