import type { Command } from 'commander';
import { printable } from '../../domain/text.ts';
import type { MigrationStep } from '../../store/diagnosis.ts';
import {
  applyRecorded,
  type DatabaseFlags,
  databaseCommand,
  databaseConfig,
} from '../command-database.ts';
import { counted, writeErr, writeJson, writeOut } from '../terminal/terminal.ts';

interface MigrateFlags extends DatabaseFlags {
  readonly plan?: true;
  readonly json?: true;
}

export function migrateCommand(): Command {
  return databaseCommand(
    'migrate',
    'create or update the schema; "serve" does this too, if permitted',
    'npx store-orders migrate --database postgres://owner@db.example/orders\nnpx store-orders migrate --plan',
  )
    .option(
      '--plan',
      'show the migrations that would run, the locks they need and the sessions that hold them; write nothing',
    )
    .option('--json', 'print the plan as a JSON object')
    .action((flags: MigrateFlags) => (flags.plan ? showPlan(flags) : migrate(flags)));
}

async function migrate(flags: DatabaseFlags): Promise<void> {
  const { database } = databaseConfig(flags);
  const { label } = database;
  let steps: string | undefined;
  let done = `The schema of ${label} is up to date.`;
  await using store = await database.open({
    create: true,
    purpose: 'migration',
    onMigrated: (from, to) => {
      steps = `schema ${from} → ${to}`;
      done =
        from === 0 ? `Created the store ${label}.` : `Migrated ${label}: schema ${from} → ${to}.`;
    },
    onWaiting: writeErr,
  });
  if (steps !== undefined) await applyRecorded(store, 'migrate', steps);
  writeErr(done);
}

async function showPlan(flags: MigrateFlags): Promise<void> {
  const { database } = databaseConfig(flags);
  const { label } = database;
  const { steps, heldBy } = await database.planMigrations();
  if (flags.json) {
    await writeJson({ store: label, steps, heldBy });
    return;
  }
  if (steps.length === 0) writeErr(`The schema of ${label} is up to date.`);
  else writeErr(`${counted(steps.length, 'migration')} would run on ${label}:`);
  await writeOut(steps.map(describe).join(''));
  if (heldBy.length > 0)
    await writeOut(`Sessions that hold these locks now:\n${lines(heldBy.map(printable))}`);
}

function describe({ name, effects }: MigrationStep): string {
  return `${name}\n${lines(effects)}`;
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `  ${text}\n`).join('');
}
