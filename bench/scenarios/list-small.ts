import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Cluster } from '../../test/postgres.ts';
import { compare } from '../compare.ts';
import { type Context, type Row, ratioRows, type Scenario } from '../context.ts';
import { asking } from '../load.ts';
import { startNginx } from '../peers/nginx.ts';
import { startServer } from '../processes.ts';
import { fill, startService } from '../store-orders.ts';

const ORDERS = 1_000;
const CONNECTIONS = 16;
const JSON_SERVER = fileURLToPath(new URL('../node_modules/.bin/json-server', import.meta.url));
const EXPRESS = fileURLToPath(new URL('../peers/express-pg.js', import.meta.url));

export const listSmall: Scenario = {
  title: 'List 1,000 orders, 16 connections',
  needs: ['nginx'],
  run: listSmallOrders,
};

async function listSmallOrders(context: Context): Promise<Row[]> {
  const { folder, rounds } = context;
  const ours = await startService(context.database(ORDERS, 'small'));
  const body = await (await fetch(ours.list, { headers: ours.headers })).text();
  writeFileSync(join(folder, 'small.json'), body);
  writeFileSync(join(folder, 'db.json'), JSON.stringify({ orders: JSON.parse(body) }));
  const nginx = await startNginx(folder);
  const cluster = await Cluster.start();
  fill(cluster.url(), ORDERS);
  const express = await startServer(() => [process.execPath, EXPRESS], {
    env: { DATABASE_URL: cluster.url() },
    portVariable: 'PORT',
  });
  // json-server requires a folder for static files.
  mkdirSync(join(folder, 'public'));
  const jsonServer = await startServer(
    (port) => [process.execPath, JSON_SERVER, '--port', String(port), join(folder, 'db.json')],
    { cwd: folder },
  );
  const side = (name: string, url: string, headers = {}) =>
    asking(name, { url, headers, connections: CONNECTIONS }, context);
  try {
    const comparisons = await compare(
      side('store-orders', ours.list, ours.headers),
      [
        side('nginx, static file', `${nginx.origin}/small.json`),
        side('Express + pg', `${express.origin}/v1/store/orders`),
        side('json-server', `${jsonServer.origin}/orders`),
      ],
      rounds,
    );
    return ratioRows('list 1,000 orders', comparisons, 'lists/s', [
      { atLeast: 1 },
      { atLeast: 60 },
    ]);
  } finally {
    for (const server of [ours, nginx, express, jsonServer]) await server.stop();
    await cluster.remove();
  }
}
