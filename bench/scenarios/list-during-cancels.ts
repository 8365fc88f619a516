import { fileURLToPath } from 'node:url';
import type { Report, Task } from '../clients/list-and-cancel.ts';
import { comparison } from '../compare.ts';
import { type Context, type Row, ratioRows, type Scenario, shown } from '../context.ts';
import { runOnLoadCore } from '../processes.ts';
import { type Service, startService } from '../store-orders.ts';

/** Initially; all rounds cancel some 72,000, so that there are about 100,000 on average. */
const ORDERS = 136_000;
const CONNECTIONS = 8;
const CANCELS_PER_SECOND = 2_000;
const CLIENT = fileURLToPath(new URL('../clients/list-and-cancel.ts', import.meta.url));

export const listDuringCancels: Scenario = {
  title: 'List 100,000 orders, 8 connections, while 2,000 are cancelled a second',
  needs: [],
  run: listedDuringCancels,
};

/** Runs the client that lists and cancels. */
export async function listAndCancel(
  { origin, key }: Service,
  what: Omit<Task, 'port' | 'key'>,
): Promise<Report> {
  const task: Task = { port: Number(new URL(origin).port), key, ...what };
  return JSON.parse(await runOnLoadCore([process.execPath, CLIENT, JSON.stringify(task)]));
}

/** Measures lists alone, cancels alone and both, in every round. */
async function listedDuringCancels(context: Context): Promise<Row[]> {
  const service = await startService(context.database(ORDERS, 'during-cancels'));
  let firstId = 1;
  const run = async (listConnections: number, cancelsPerSecond: number): Promise<Report> => {
    const { seconds } = context;
    const load = { listConnections, cancelsPerSecond, firstId, seconds, maxCancels: ORDERS };
    const report = await listAndCancel(service, load);
    firstId = report.nextId;
    return report;
  };
  try {
    const rounds: Round[] = [];
    for (let round = 0; round <= context.rounds; round += 1) {
      const lists = await run(CONNECTIONS, 0);
      const cancels = await run(0, CANCELS_PER_SECOND);
      const both = await run(CONNECTIONS, CANCELS_PER_SECOND);
      if (round > 0) rounds.push({ lists, cancels, both });
    }
    return rowsOf(rounds);
  } finally {
    await service.stop();
  }
}

interface Round {
  readonly lists: Report;
  readonly cancels: Report;
  readonly both: Report;
}

function rowsOf(rounds: readonly Round[]): Row[] {
  const rates = (of: keyof Round, what: 'listsPerSecond' | 'cancelsPerSecond' | 'cancelP99') =>
    rounds.map((round) => round[of][what]);
  const lists = comparison(
    'lists alone',
    rates('both', 'listsPerSecond'),
    rates('lists', 'listsPerSecond'),
  );
  const cancels = comparison(
    'as many as were asked for',
    rates('both', 'cancelsPerSecond'),
    rounds.map(() => CANCELS_PER_SECOND),
  );
  const p99 = comparison(
    'p99 of cancels alone',
    rates('both', 'cancelP99'),
    rates('cancels', 'cancelP99'),
  );
  return [
    ...ratioRows('lists during cancels', [lists], 'lists/s', [{ atLeast: 0.5 }]),
    ...ratioRows('cancels a second during lists', [cancels], 'cancels/s', []),
    ...ratioRows('p99 of cancels during lists', [p99], 'ms', [{ atMost: 3 }]),
    {
      what: 'stale lists',
      against: 'cancels acknowledged before each list',
      rateUnit: `of ${shown(rounds.reduce((sum, { both }) => sum + both.lists, 0))} lists`,
      figure: rounds.reduce((sum, { both }) => sum + both.stale, 0),
      unit: '',
      reach: { atMost: 0 },
    },
  ];
}
