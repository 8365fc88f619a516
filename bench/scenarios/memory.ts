import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context, Row, Scenario } from '../context.ts';
import { applyLoad } from '../load.ts';
import { residentBytes } from '../memory-of.ts';
import { type Service, startService, untilCompressed } from '../store-orders.ts';

const ORDERS = 1_000_000;
const CLIENTS = 1_000;
/** How much a slow client reads at once, and how often. */
const READ_BYTES = 16 * 1024;
const READ_EVERY_MS = 250;
const MEGABYTE = 1024 * 1024;

export const memory: Scenario = {
  title: 'Memory with 1,000,000 orders',
  needs: [],
  run: async (context) => [...(await perOrder(context)), await slowReaders(context)],
};

/** Compares resident bytes of servers under load for a while, as V8 grows with the first requests. */
async function perOrder(context: Context): Promise<Row[]> {
  const count = context.orders(ORDERS);
  const empty = await startService(context.database(0, 'empty'));
  const full = await startService(context.database(count, 'full'));
  try {
    for (const service of [empty, full]) await serveUnchanged(service, context);
    const before = residentBytes(empty.child.pid!);
    const listed = residentBytes(full.child.pid!);
    await untilCompressed(full, 'gzip');
    const compressed = residentBytes(full.child.pid!);
    return [
      {
        what: 'per listed order',
        against: 'a server without orders',
        rates: [listed / MEGABYTE, before / MEGABYTE],
        rateUnit: 'MB',
        figure: (listed - before) / count,
        unit: 'bytes',
        reach: { atMost: 160 },
      },
      {
        what: 'per order, gzip copy',
        against: 'the same server before',
        rates: [compressed / MEGABYTE, listed / MEGABYTE],
        rateUnit: 'MB',
        figure: (compressed - listed) / count,
        unit: 'bytes',
      },
    ];
  } finally {
    await empty.stop();
    await full.stop();
  }
}

async function serveUnchanged(service: Service, { folder, seconds }: Context): Promise<void> {
  const response = await fetch(service.list, { headers: service.headers });
  await response.arrayBuffer();
  const headers = { ...service.headers, 'If-None-Match': response.headers.get('etag')! };
  await applyLoad({ url: service.list, headers, connections: 64, seconds }, folder);
}

async function slowReaders(context: Context): Promise<Row> {
  const service = await startService(context.database(context.orders(ORDERS), 'slow-readers'));
  try {
    await serveUnchanged(service, context);
    const one = await withSlowReaders(service, 1);
    const many = await withSlowReaders(service, CLIENTS);
    return {
      what: `${CLIENTS.toLocaleString('en-US')} clients that read slowly`,
      against: 'one client',
      rates: [many / MEGABYTE, one / MEGABYTE],
      rateUnit: 'MB',
      figure: (many - one) / MEGABYTE,
      unit: 'MB',
      reach: { atMost: 64 },
    };
  } finally {
    await service.stop();
  }
}

/** Resident bytes while `count` clients read slowly. */
async function withSlowReaders(service: Service, count: number): Promise<number> {
  const sockets = Array.from({ length: count }, () => readSlowly(service));
  await sleep(5_000);
  const bytes = residentBytes(service.child.pid!);
  for (const socket of sockets) socket.destroy();
  return bytes;
}

function readSlowly(service: Service): Socket {
  const { hostname, port, pathname } = new URL(service.list);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.headers.Authorization}\r\n\r\n`,
  );
  const timer = setInterval(() => socket.read(READ_BYTES), READ_EVERY_MS);
  socket.on('close', () => clearInterval(timer));
  return socket;
}
