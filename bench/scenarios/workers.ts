import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from '../../test/postgres.ts';
import { compare } from '../compare.ts';
import { type Context, type Row, ratioRows, type Scenario, shown } from '../context.ts';
import { asking } from '../load.ts';
import { residentBytes } from '../memory-of.ts';
import { fill, type Service, startService } from '../store-orders.ts';
import { cancelling, ENOUGH } from './cancel.ts';

/** Until the second worker serves too; the first one's being ready is enough for the whole. */
const SECOND_WORKER_MS = 4_000;
const MEGABYTE = 1024 * 1024;

export const workers: Scenario = {
  title: 'A second worker, on both cores with the load',
  needs: ['wrk'],
  run: async (context) => [...(await onSqlite(context)), ...(await onPostgres(context))],
};

async function onSqlite(context: Context): Promise<Row[]> {
  const count = context.orders(ENOUGH.sqlite);
  const one = await startWith(1, context.database(count, 'one-worker'));
  const two = await startWith(2, context.database(count, 'two-workers'));
  try {
    const rows = [await memoryRow(count, one, two), ...(await listed(one, two, context))];
    return [...rows, ...(await cancelled('SQLite', one, two, context))];
  } finally {
    await one.stop();
    await two.stop();
  }
}

async function onPostgres(context: Context): Promise<Row[]> {
  const clusters = [await Cluster.start(), await Cluster.start()];
  const [first, second] = clusters.map((cluster) => cluster.url());
  for (const url of [first!, second!]) fill(url, context.orders(ENOUGH.postgres));
  const one = await startWith(1, first!);
  const two = await startWith(2, second!);
  try {
    return await cancelled('PostgreSQL', one, two, context);
  } finally {
    await one.stop();
    await two.stop();
    for (const cluster of clusters) await cluster.remove();
  }
}

async function startWith(count: number, database: string): Promise<Service> {
  const env = { WORKERS: String(count) };
  const service = await startService(database, { isFree: true, env });
  if (count > 1) await sleep(SECOND_WORKER_MS);
  return service;
}

async function listed(one: Service, two: Service, context: Context): Promise<Row[]> {
  const side = (name: string, { list: url, headers }: Service) =>
    asking(name, { url, headers, connections: 8 }, context);
  const comparisons = await compare(
    side('two workers', two),
    [side('one worker', one)],
    context.rounds,
  );
  return ratioRows('lists, two workers', comparisons, 'lists/s', []);
}

async function cancelled(
  engine: string,
  one: Service,
  two: Service,
  context: Context,
): Promise<Row[]> {
  const comparisons = await compare(
    cancelling('two workers', two, two.headers, 64, context),
    [cancelling('one worker', one, one.headers, 64, context)],
    context.rounds,
  );
  return ratioRows(`cancels, ${engine}, two workers`, comparisons, 'cancels/s', []);
}

async function memoryRow(orders: number, one: Service, two: Service): Promise<Row> {
  const [before, after] = [one, two].map(({ child }) => residentBytes(child.pid!));
  return {
    what: `memory, two workers and the primary, ${shown(orders)} orders`,
    against: 'one process',
    values: `${shown(after! / MEGABYTE)} / ${shown(before! / MEGABYTE)} MB`,
    figure: (after! - before!) / MEGABYTE,
    unit: 'MB',
  };
}
