import { compareBuilds } from './builds.ts';
import { Context, type Row, type Scenario } from './context.ts';
import { stopAll, versionOf } from './processes.ts';
import { report, valuesOf } from './report.ts';
import { bulk } from './scenarios/bulk.ts';
import { cancelPostgres, cancelSqlite } from './scenarios/cancel.ts';
import { fairness } from './scenarios/fairness.ts';
import { growth } from './scenarios/growth.ts';
import { listDuringCancels } from './scenarios/list-during-cancels.ts';
import { listCompressed, listLarge } from './scenarios/list-large.ts';
import { listSmall } from './scenarios/list-small.ts';
import { memory } from './scenarios/memory.ts';
import { refusedKey, unchanged } from './scenarios/small-answers.ts';
import { start } from './scenarios/start.ts';
import { v2Beside, v2Changes, v2Place, v2Reads, v2Streams } from './scenarios/v2.ts';
import { webhooks } from './scenarios/webhooks.ts';

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  listSmall,
  listLarge,
  listCompressed,
  unchanged,
  listDuringCancels,
  cancelSqlite,
  cancelPostgres,
  refusedKey,
  start,
  memory,
  growth,
  v2Reads,
  v2Place,
  bulk,
  v2Changes,
  v2Streams,
  v2Beside,
  fairness,
  webhooks,
};

/** Left out of a quick run, unless named. */
const LONG = ['memory', 'growth'];

/** External programs: the flag that prints the version, and the Debian package. */
const PROGRAMS = {
  wrk: { flag: '--version', package: 'wrk' },
  nginx: { flag: '-v', package: 'nginx-light' },
  pgbench: { flag: '--version', package: 'postgresql-contrib' },
  taskset: { flag: '--version', package: 'util-linux' },
} as const;

const args = process.argv.slice(2);
const isQuick = args.includes('--quick');
const only = args.filter((arg) => !arg.startsWith('--'));

const versions = Object.fromEntries(
  Object.entries(PROGRAMS).map(([name, { flag }]) => [name, versionOf(name, flag)]),
);
const missing = Object.keys(PROGRAMS).filter((name) => versions[name] === undefined);
for (const name of missing) {
  const { package: debian } = PROGRAMS[name as keyof typeof PROGRAMS];
  console.error(`${name} is missing; on Debian: apt-get install ${debian}`);
}
if (missing.includes('taskset')) process.exit(1);

const against = args.indexOf('--against');
if (against !== -1) {
  const [commits = '', ...names] = args.slice(against + 1);
  await compareBuilds(commits.split(','), names);
  process.exit();
}

const context = new Context(isQuick);
const results: { title: string; rows: Row[] }[] = [];
try {
  for (const [name, { title, needs, run }] of Object.entries(SCENARIOS)) {
    const isWanted = only.length === 0 ? !(isQuick && LONG.includes(name)) : only.includes(name);
    if (!isWanted) continue;
    const lacking = needs.filter((program) => missing.includes(program));
    if (lacking.length > 0) {
      console.error(`Skipped, because ${lacking.join(' and ')} is missing: ${title}`);
      continue;
    }
    console.error(title);
    const begin = performance.now();
    const rows = await run(context);
    results.push({ title, rows });
    for (const row of rows) {
      const { what, name = 'store-orders', against, figure, unit } = row;
      console.error(
        `  ${what}, ${name}: ${figure.toFixed(2)} ${unit} ${against} (${valuesOf(row)})`,
      );
    }
    console.error(`  (${((performance.now() - begin) / 1000).toFixed(0)} s)`);
  }
} finally {
  await stopAll();
  context.remove();
}
if (only.length === 0 && !isQuick) report(results, versions);
