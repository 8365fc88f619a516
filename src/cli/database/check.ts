import type { Command } from 'commander';
import { parsePosition } from '../../../protocol/history.ts';
import { printable } from '../../domain/text.ts';
import { expectEnvironment } from '../../store/open-options.ts';
import { type DatabaseFlags, databaseCommand, databaseConfig } from '../command-database.ts';
import {
  CommandFailed,
  counted,
  fieldsText,
  grouped,
  UsageError,
  writeJson,
  writeOut,
} from '../terminal/terminal.ts';

export function checkCommand(): Command {
  return databaseCommand(
    'check',
    'verify the file, the schema, the counters, and the history by its heads; writes nothing',
    'npx store-orders check\nnpx store-orders check --database sqlite:backups/2026-11-20.db --json\nnpx store-orders check --at 2-5fd4…',
  )
    .option(
      '--at <revision-head>',
      'verify that the history has this revision with this head, such as one that was printed by "check" before',
    )
    .option('--json', 'print a JSON object')
    .action(check);
}

interface CheckFlags extends DatabaseFlags {
  readonly at?: string;
  readonly json?: true;
}

async function check(flags: CheckFlags): Promise<void> {
  const asked = flags.at === undefined ? undefined : parsePosition(flags.at);
  if (flags.at !== undefined && asked === undefined) {
    throw new UsageError(
      '--at must be a revision, a hyphen and a head of 64 hexadecimal digits in lower case',
    );
  }
  const { database, environment: wanted } = databaseConfig(flags);
  const { schema, schemaDifferences, identity, environment, movedTo, revision, orders, ...found } =
    await database.check({ asked });
  const { head, foreign, audit, heads } = found;
  const hasAsked = heads?.hasAsked === true;
  const problems = [
    ...schemaDifferences,
    ...foreign,
    ...found.problems,
    ...audit,
    ...(heads?.problems ?? []),
  ];
  if (asked !== undefined && !hasAsked) {
    problems.push(
      head === undefined
        ? `it cannot be verified that the history contains ${flags.at}`
        : `the history does not contain ${flags.at}`,
    );
  }
  expectEnvironment(database.label, environment, wanted);
  const store = database.label;
  if (flags.json) {
    const record = { store, identity, schema, environment, movedTo, revision, head, orders };
    await writeJson({ ...record, problems });
  } else {
    const { has, knows } = schema;
    const fields = {
      store,
      schema: has === knows ? `${has} (this release)` : `${has} of ${knows}; "migrate" updates it`,
      identity: identity ?? 'none yet; "migrate" makes it',
      environment: environment ?? 'not recorded',
      'moved to': movedTo,
      revision,
      head: head ?? 'not computed yet; "migrate" computes it',
      at: asked !== undefined && hasAsked ? `${flags.at} is in the history` : undefined,
      pending: grouped(orders.pending),
      shipped: grouped(orders.shipped),
      cancelled: grouped(orders.cancelled),
      problems: problems.length === 0 ? 'none' : problems.length,
    };
    const lines = problems.map((problem) => `  ${printable(problem)}\n`);
    await writeOut(fieldsText(fields) + lines.join(''));
  }
  if (problems.length > 0) {
    throw new CommandFailed(`the store failed the check: ${counted(problems.length, 'problem')}`);
  }
}
