import { fileURLToPath } from 'node:url';
import { Cluster } from '../../test/postgres.ts';
import type { Kind, Report, Task } from '../clients/small-requests.ts';
import { comparison } from '../compare.ts';
import { type Context, type Row, ratioRows, type Scenario } from '../context.ts';
import { applyLoad } from '../load.ts';
import { runOnLoadCore } from '../processes.ts';
import { cli, fill, startService } from '../store-orders.ts';

const CLIENT = fileURLToPath(new URL('../clients/small-requests.ts', import.meta.url));
const ORDERS = 200_000;
/** Few cycles of requests would have no 99th percentile. */
const SECONDS = 6;

const KINDS: readonly Kind[] = ['list', 'page', 'count', 'cancel'];

/** What one key asks for, on so many connections, each as fast as responses arrive. */
const LOADS = [
  { what: '300 × pages of 500', connections: 300, path: '/v2/store/orders?limit=500' },
  { what: '60 × pages of 500', connections: 60, path: '/v2/store/orders?limit=500' },
  { what: '16 × changes, 500', connections: 16, path: '/v2/store/changes?limit=500' },
  {
    what: '16 × counts by two ranges',
    connections: 16,
    path: '/v2/store/counts?shipDateFrom=2020-01-01&updatedFrom=2020-01-01',
  },
] as const;

export const fairness: Scenario = {
  title: 'Requests of one key while another key reads as much as it can',
  needs: ['wrk'],
  run: async (context) => {
    const count = context.orders(ORDERS);
    const onSqlite = await beside(context, 'SQLite', context.database(count, 'fairness'));
    const cluster = await Cluster.start();
    try {
      fill(cluster.url(), count);
      await cluster.admin('VACUUM ANALYZE');
      return [...onSqlite, ...(await beside(context, 'PostgreSQL', cluster.url()))];
    } finally {
      await cluster.remove();
    }
  },
};

async function beside(context: Context, engine: string, database: string): Promise<Row[]> {
  const service = await startService(database);
  const { origin, headers } = service;
  const key = cli(['keys', 'create', '--name', 'greedy'], database).trim();
  const greedy = { Authorization: `Bearer ${key}` };
  let firstId = 1;
  const measure = async (): Promise<Report> => {
    const task: Task = {
      ...{ origin, authorization: headers.Authorization!, seconds: SECONDS, firstId },
    };
    const report: Report = JSON.parse(
      await runOnLoadCore([process.execPath, CLIENT, JSON.stringify(task)]),
    );
    firstId = report.nextId;
    return report;
  };
  const rows: Row[] = [];
  try {
    for (const { what, connections, path } of LOADS) {
      const load = { url: origin + path, headers: greedy, connections, seconds: SECONDS + 2 };
      const alone: Report[] = [];
      const loaded: Report[] = [];
      for (let round = 0; round <= context.rounds; round += 1) {
        const own = await measure();
        const [other] = await Promise.all([measure(), applyLoad(load, context.folder)]);
        if (round > 0) alone.push(own);
        if (round > 0) loaded.push(other);
      }
      const name = `${engine}, ${what}`;
      rows.push(
        ...KINDS.flatMap((kind) => {
          const of = (reports: readonly Report[]) => reports.map(({ p99 }) => p99[kind]);
          const p99 = comparison('without it', of(loaded), of(alone));
          return ratioRows(`${name}: p99 of a ${kind}`, [p99], 'ms', [{ atMost: 5 }]);
        }),
        {
          what: `${name}: requests refused`,
          ...{ against: '', rateUnit: '', unit: '' as const, reach: { atMost: 0 } },
          figure: loaded.reduce((sum, { refused }) => sum + refused, 0),
        },
      );
    }
  } finally {
    await service.stop();
  }
  return rows;
}
