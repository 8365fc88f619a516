import { spread } from '../compare.ts';
import type { Context, Row, Scenario } from '../context.ts';
import { asking } from '../load.ts';
import { startService } from '../store-orders.ts';
import { listAndCancel } from './list-during-cancels.ts';
import { startTime } from './start.ts';

const COUNTS = [10_000, 100_000, 1_000_000, 3_000_000] as const;
const REFERENCE = 1_000_000;
const LIST_CONNECTIONS = 8;
/** Few enough for the smallest store to have them in every round. */
const CANCELS = 1_500;

export const growth: Scenario = {
  title: 'What an order costs as their number grows',
  needs: [],
  run: grown,
};

interface Costs {
  /** Nanoseconds per order. */
  readonly list: number;
  /** Microseconds per cancel. */
  readonly cancel: number;
  /** Nanoseconds per order, until the first list, in addition to the start of an empty server. */
  readonly start: number;
}

/** For each number of orders, relative to REFERENCE: the list per order, a cancel, the start per order. */
async function grown(context: Context): Promise<Row[]> {
  const costs = new Map<number, Costs>();
  for (const count of new Set(COUNTS.map((each) => context.orders(each)))) {
    costs.set(count, await costsOf(context, count));
  }
  const reference = costs.get(context.orders(REFERENCE))!;
  return (['list', 'cancel', 'start'] as const).flatMap((what) =>
    [...costs].map(([count, cost]): Row => {
      return {
        what,
        name: `${count.toLocaleString('en-US')} orders`,
        against: `${context.orders(REFERENCE).toLocaleString('en-US')} orders`,
        rates: [cost[what], reference[what]],
        rateUnit: what === 'cancel' ? 'µs a cancel' : `ns an order (${what})`,
        figure: cost[what] / reference[what],
        unit: '×',
      };
    }),
  );
}

async function costsOf(context: Context, count: number): Promise<Costs> {
  const empty = context.database(0, 'growth');
  const database = context.database(count, 'growth');
  const firstList = (path: string) => startTime(path, { listsFirst: true });
  const start = await medianOf(
    context,
    async () => ((await firstList(database)) - (await firstList(empty))) / count,
  );
  const service = await startService(database);
  const { list: url, headers } = service;
  let firstId = 1;
  const { measure: listsPerSecond } = asking(
    'store-orders',
    { url, headers, connections: LIST_CONNECTIONS },
    context,
  );
  const cancelsPerSecond = async () => {
    const report = await listAndCancel(service, {
      listConnections: 0,
      // As fast as responses arrive.
      cancelsPerSecond: Number.MAX_SAFE_INTEGER,
      firstId,
      seconds: context.seconds,
      maxCancels: CANCELS,
    });
    firstId = report.nextId;
    return report.cancelsPerSecond;
  };
  try {
    return {
      list: 1e9 / (await medianOf(context, listsPerSecond)) / count,
      cancel: 1e6 / (await medianOf(context, cancelsPerSecond)),
      start: start * 1e6,
    };
  } finally {
    await service.stop();
  }
}

/** The median of all rounds, after one warm-up that does not count. */
async function medianOf({ rounds }: Context, measure: () => Promise<number>): Promise<number> {
  await measure();
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) values.push(await measure());
  return spread(values).median;
}
