import type { Command } from 'commander';
import { expectEnvironment } from '../store/claim.ts';
import { checkStore } from '../store/maintenance/inspect.ts';
import { databaseLabel } from '../store/url.ts';
import { type DatabaseFlags, databaseCommand, databaseConfig } from './database.ts';
import { CommandFailed, counted, grouped, table, writeJson, writeOut } from './terminal/output.ts';

export function checkCommand(): Command {
  return databaseCommand(
    'check',
    'verify the file, the schema, and the counters against the rows; writes nothing',
    'npx store-orders check\nnpx store-orders check --database sqlite:backups/2026-11-20.db --json',
  )
    .option('--json', 'print a JSON object')
    .action(check);
}

async function check(flags: DatabaseFlags & { json?: true }): Promise<void> {
  const { databaseUrl, environment: wanted } = databaseConfig(flags);
  const { schema, schemaDifferences, environment, movedTo, revision, orders, ...found } =
    await checkStore(databaseUrl);
  const problems = [...schemaDifferences, ...found.problems];
  expectEnvironment(databaseUrl, environment, wanted);
  const store = databaseLabel(databaseUrl);
  if (flags.json) {
    await writeJson({ store, schema, environment, movedTo, revision, orders, problems });
  } else {
    const { has, knows } = schema;
    const rows = [
      ['store', store],
      [
        'schema',
        has === knows ? `${has} (this release)` : `${has} of ${knows}; "migrate" updates it`,
      ],
      ['environment', environment ?? 'not recorded'],
      ...(movedTo === undefined ? [] : [['moved to', movedTo]]),
      ['revision', String(revision)],
      ...Object.entries(orders).map(([status, count]) => [status, grouped(count)]),
      ['problems', problems.length === 0 ? 'none' : String(problems.length)],
    ];
    await writeOut(`${table(rows)}\n${problems.map((problem) => `  ${problem}\n`).join('')}`);
  }
  if (problems.length > 0) {
    throw new CommandFailed(`the store failed the check: ${counted(problems.length, 'problem')}`);
  }
}
