import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Cluster } from '../../test/postgres.ts';
import { compare, type Side } from '../compare.ts';
import { type Context, type Row, ratioRows, type Scenario } from '../context.ts';
import { applyLoad, type Load } from '../load.ts';
import { BOTH_CORES, runOnCore, type Server, startServer } from '../processes.ts';
import { fill, type Service, startService } from '../store-orders.ts';

const peer = (name: string) => fileURLToPath(new URL(`../peers/${name}`, import.meta.url));
const EMPTY = peer('empty-fastify.js');
/** Enough orders for all rounds: at up to 80,000 cancels a second on SQLite, half of that on PostgreSQL. */
export const ENOUGH = { sqlite: 2_000_000, postgres: 1_000_000 } as const;

export const cancelSqlite: Scenario = {
  title: 'Durable cancel on SQLite',
  needs: ['wrk'],
  run: async (context) => [
    ...(await cancelledBesideExpress(context)),
    ...(await cancelled(context, 64, 0.45)),
    ...(await cancelled(context, 256, 0.45)),
    ...(await cancelledAtRandom(context)),
  ],
};

/** One client at a time, on one core and on both. */
async function cancelledBesideExpress(context: Context): Promise<Row[]> {
  const rows: Row[] = [];
  for (const isFree of [false, true]) {
    const [own, other] = ['one', 'express'].map((name) =>
      context.database(context.orders(ENOUGH.sqlite), `${name}-${isFree}`),
    ) as [string, string];
    const ours = await startService(own, { isFree });
    const path = other.slice('sqlite:'.length);
    const express = await startServer(() => [process.execPath, peer('express-sqlite.js'), path], {
      portVariable: 'PORT',
      isFree,
    });
    try {
      const comparisons = await compare(
        cancelling('store-orders', ours, ours.headers, 1, context),
        [cancelling('Express + node:sqlite', express, {}, 1, context)],
        context.rounds,
      );
      const what = `durable cancel, SQLite, 1 connection, ${isFree ? 'both cores' : 'one core'}`;
      rows.push(...ratioRows(what, comparisons, 'cancels/s', [{ atLeast: 1 }]));
    } finally {
      await ours.stop();
      await express.stop();
    }
  }
  return rows;
}

/** Random ids, which change a page of the database each, beside ascending ones. */
async function cancelledAtRandom(context: Context): Promise<Row[]> {
  const count = context.orders(ENOUGH.sqlite);
  const [random, ascending] = await Promise.all(
    ['random', 'ascending'].map((name) => startService(context.database(count, `cancel-${name}`))),
  );
  try {
    const comparisons = await compare(
      cancelling('random', random!, random!.headers, 64, context, count),
      [cancelling('ascending ids', ascending!, ascending!.headers, 64, context)],
      context.rounds,
    );
    return ratioRows('durable cancel, SQLite, random ids', comparisons, 'cancels/s', []);
  } finally {
    await random!.stop();
    await ascending!.stop();
  }
}

async function cancelled(context: Context, connections: number, reach: number): Promise<Row[]> {
  const ours = await startService(
    context.database(context.orders(ENOUGH.sqlite), `cancel-${connections}`),
  );
  const empty = await startServer(() => [process.execPath, EMPTY], { portVariable: 'PORT' });
  try {
    const comparisons = await compare(
      cancelling('store-orders', ours, ours.headers, connections, context),
      [cancelling('empty Fastify handler', empty, ours.headers, connections, context)],
      context.rounds,
    );
    return ratioRows(
      `durable cancel, SQLite, ${connections} connections`,
      comparisons,
      'cancels/s',
      [{ atLeast: reach }],
    );
  } finally {
    await ours.stop();
    await empty.stop();
  }
}

/** Cancels pending orders one after another; fails if a cancel is refused. */
export function cancelling(
  name: string,
  server: Server,
  headers: Readonly<Record<string, string>>,
  connections: number,
  { folder, seconds }: Context,
  shuffledAmong?: number,
  firstId = 0,
): Side {
  let idsFrom = firstId;
  return {
    name,
    measure: async () => {
      const url = `${server.origin}/v1/store/orders/`;
      const load: Load = {
        ...{ url, headers, connections, seconds, idsFrom, method: 'DELETE' },
        ...(shuffledAmong !== undefined && { shuffledAmong }),
      };
      const { requestsPerSecond, errors } = await applyLoad(load, folder);
      if (errors > 0) throw new Error(`${name}: ${errors} cancels were refused`);
      // With a margin for cancels that were under way at the end.
      idsFrom += Math.ceil(requestsPerSecond * (seconds + 1)) + 1_000;
      return requestsPerSecond;
    },
  };
}

export const cancelPostgres: Scenario = {
  title: 'Durable cancel on PostgreSQL, 64 connections, against pgbench',
  needs: ['wrk', 'pgbench'],
  run: cancelledOnPostgres,
};

/** Cancels by a single client on PostgreSQL have the last ids, of which these are enough. */
const ENOUGH_FOR_ONE = 100_000;

async function cancelledBesideFastify(
  context: Context,
  cluster: Cluster,
  ours: Service,
): Promise<Row[]> {
  const fastify = await startServer(() => [process.execPath, peer('fastify-pg.js')], {
    portVariable: 'PORT',
    isFree: true,
    env: { DATABASE_URL: cluster.url() },
  });
  try {
    const from = context.orders(ENOUGH.postgres) - ENOUGH_FOR_ONE;
    const comparisons = await compare(
      cancelling('store-orders', ours, ours.headers, 1, context, undefined, from),
      [cancelling('Fastify + pg', fastify, {}, 1, context)],
      context.rounds,
    );
    return ratioRows('durable cancel, PostgreSQL, 1 connection', comparisons, 'cancels/s', []);
  } finally {
    await fastify.stop();
  }
}

/** Both sides share the two cores with the database. */
async function cancelledOnPostgres(context: Context): Promise<Row[]> {
  const cluster = await Cluster.start();
  fill(cluster.url(), context.orders(ENOUGH.postgres));
  const script = join(context.folder, 'update.sql');
  writeFileSync(
    script,
    `\\set id random(1, ${context.orders(ENOUGH.postgres)})\nUPDATE bench SET status = 'cancelled' WHERE id = :id;\n`,
  );
  await cluster.admin('CREATE TABLE bench AS SELECT * FROM orders');
  await cluster.admin('ALTER TABLE bench ADD PRIMARY KEY (id)');
  await cluster.admin('CREATE TABLE by_hand AS SELECT * FROM orders');
  await cluster.admin('ALTER TABLE by_hand ADD PRIMARY KEY (id)');
  await cluster.admin('VACUUM ANALYZE');
  const ours = await startService(cluster.url(), { isFree: true });
  const pgbench: Side = {
    name: 'pgbench, one-row updates, 64 clients',
    measure: async () => {
      const output = await runOnCore(BOTH_CORES, [
        ...['pgbench', '-h', '127.0.0.1', '-p', String(cluster.port), '-U', 'postgres', '-n'],
        ...['-M', 'prepared', '-c', '64', '-j', '1', '-T', String(context.seconds), '-f', script],
        'postgres',
      ]);
      return Number(/tps = ([\d.]+)/.exec(output)![1]);
    },
  };
  try {
    const comparisons = await compare(
      cancelling('store-orders', ours, ours.headers, 64, context),
      [pgbench],
      context.rounds,
    );
    const many = ratioRows('durable cancel, PostgreSQL, 64 connections', comparisons, 'cancels/s', [
      { atLeast: 1 },
    ]);
    return [...many, ...(await cancelledBesideFastify(context, cluster, ours))];
  } finally {
    await ours.stop();
    await cluster.remove();
  }
}
