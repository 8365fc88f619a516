import { fileURLToPath } from 'node:url';
import type { Report, Task } from '../clients/list-and-cancel.ts';
import { spread } from '../compare.ts';
import { type Context, type Row, type Scenario, shown } from '../context.ts';
import { runOnLoadCore } from '../processes.ts';
import { startService } from '../store-orders.ts';

const ORDERS = 100_000;
const CONNECTIONS = 8;
const CANCELS_PER_SECOND = 2_000;
const CLIENT = fileURLToPath(new URL('../clients/list-and-cancel.ts', import.meta.url));

export const listDuringCancels: Scenario = {
  title: 'List 100,000 orders, 8 connections, while 2,000 are cancelled a second',
  needs: [],
  run: listedDuringCancels,
};

/** Runs the client that does both. */
export async function listAndCancel(task: Task): Promise<Report> {
  return JSON.parse(await runOnLoadCore([process.execPath, CLIENT, JSON.stringify(task)]));
}

/** Lists alone, cancels alone, and both: each round all three. */
async function listedDuringCancels(context: Context): Promise<Row[]> {
  const service = await startService(context.database(ORDERS, 'during-cancels'));
  const { port } = new URL(service.origin);
  const key = service.headers.Authorization!.slice('Bearer '.length);
  let firstId = 1;
  const run = async (listConnections: number, cancelsPerSecond: number): Promise<Report> => {
    const { seconds } = context;
    const report = await listAndCancel({
      port: Number(port),
      key,
      listConnections,
      cancelsPerSecond,
      firstId,
      seconds,
      maxCancels: ORDERS,
    });
    firstId = report.nextId;
    return report;
  };
  try {
    const rounds: { lists: Report; cancels: Report; both: Report }[] = [];
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

function rowsOf(rounds: readonly { lists: Report; cancels: Report; both: Report }[]): Row[] {
  const median = (value: (round: (typeof rounds)[number]) => number) =>
    spread(rounds.map(value)).median;
  const rate = spread(rounds.map(({ lists, both }) => both.listsPerSecond / lists.listsPerSecond));
  const p99 = spread(rounds.map(({ cancels, both }) => both.cancelP99 / cancels.cancelP99));
  return [
    {
      what: 'lists during cancels',
      against: 'lists alone',
      values: `${shown(median(({ both }) => both.listsPerSecond))} / ${shown(median(({ lists }) => lists.listsPerSecond))} lists/s`,
      figure: rate.median,
      least: rate.least,
      most: rate.most,
      unit: '×',
      reach: { atLeast: 0.5 },
    },
    {
      what: 'cancels a second during lists',
      against: 'as many as were asked for',
      values: `${shown(median(({ both }) => both.cancelsPerSecond))} / ${shown(CANCELS_PER_SECOND)} cancels/s`,
      figure: median(({ both }) => both.cancelsPerSecond / CANCELS_PER_SECOND),
      unit: '×',
    },
    {
      what: 'p99 of cancels during lists',
      against: 'p99 of cancels alone',
      values: `${shown(median(({ both }) => both.cancelP99))} / ${shown(median(({ cancels }) => cancels.cancelP99))} ms`,
      figure: p99.median,
      least: p99.least,
      most: p99.most,
      unit: '×',
      reach: { atMost: 3 },
    },
    {
      what: 'stale lists',
      against: 'cancels acknowledged before each list',
      values: `of ${shown(rounds.reduce((sum, { both }) => sum + both.lists, 0))} lists`,
      figure: rounds.reduce((sum, { both }) => sum + both.stale, 0),
      unit: '',
      reach: { atMost: 0 },
    },
  ];
}
