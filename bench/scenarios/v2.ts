import { fileURLToPath } from 'node:url';
import type { Report as StreamsReport, Task as StreamsTask } from '../clients/streams.ts';
import { compare, comparison, type Side } from '../compare.ts';
import { type Context, type Row, ratioRows, type Scenario } from '../context.ts';
import { applyLoad, asking, type Load } from '../load.ts';
import { runOnLoadCore, type Server, startServer } from '../processes.ts';
import { cli, type Service, startService } from '../store-orders.ts';
import { cancelling, ENOUGH } from './cancel.ts';
import { listAndCancel } from './list-during-cancels.ts';

const BY_HAND = fileURLToPath(new URL('../peers/by-hand.ts', import.meta.url));
const WALK = fileURLToPath(new URL('../clients/walk-changes.ts', import.meta.url));
const STREAMS = fileURLToPath(new URL('../clients/streams.ts', import.meta.url));
const ORDERS = 1_000_000;
const CONNECTIONS = 64;

/** The service, and what people write by hand, each on its own copy of a store. */
async function both<T>(
  context: Context,
  name: string,
  use: (ours: Service, peer: Server, count: number) => Promise<T>,
): Promise<T> {
  const count = context.orders(ORDERS);
  const ours = await startService(context.database(count, name));
  const path = context.database(count, `${name}-by-hand`).slice('sqlite:'.length);
  const peer = await startServer(() => [process.execPath, BY_HAND, path], { portVariable: 'PORT' });
  try {
    return await use(ours, peer, count);
  } finally {
    await ours.stop();
    await peer.stop();
  }
}

export const v2Reads: Scenario = {
  title: 'v2: pages of 100, and one order, among 1,000,000, 64 connections',
  needs: [],
  run: (context) =>
    both(context, 'reads', async (ours, peer, count) => {
      const { headers } = ours;
      const ask = (name: string, url: string) =>
        asking(name, { url, headers, connections: CONNECTIONS }, context);
      const cursor = await cursorBehind(ours, count - 100_000);
      const pages = `${ours.origin}/v2/store/orders`;
      const byHand = `${peer.origin}/v2/store/orders`;
      const rounds = context.rounds;
      const first = await compare(
        ask('store-orders', pages),
        [ask('node:sqlite by hand', byHand)],
        rounds,
      );
      const deep = await compare(
        ask('store-orders', `${pages}?cursor=${cursor}`),
        [ask('its first page', pages)],
        rounds,
      );
      const one = await compare(
        ask('store-orders', `${pages}/${count / 2}`),
        [ask('node:sqlite by hand', `${byHand}/${count / 2}`)],
        rounds,
      );
      return [
        ...ratioRows('first page of 100', first, 'pages/s', []),
        ...ratioRows('page deep in the store', deep, 'pages/s', [{ atLeast: 0.8 }]),
        ...ratioRows('one order', one, 'orders/s', []),
      ];
    }),
};

/** Walks to a cursor by pages of one order behind a filter: cursors are opaque, but the next of any page is one. */
async function cursorBehind({ origin, headers }: Service, id: number): Promise<string> {
  const url = `${origin}/v2/store/orders?limit=500`;
  for (let cursor = ''; ; ) {
    const page = (await (await fetch(url + cursor, { headers })).json()) as {
      orders: { id: number }[];
      next: string;
    };
    if (page.orders.at(-1)!.id >= id) return page.next;
    cursor = `&cursor=${page.next}`;
  }
}

export const v2Place: Scenario = {
  title: 'v2: placing orders on SQLite, 64 connections',
  needs: ['wrk'],
  run: async (context) => {
    const count = context.orders(ENOUGH.sqlite);
    const cancels = await startService(context.database(count, 'cancels'));
    try {
      return await both(context, 'place', async (ours, peer) => {
        const comparisons = await compare(
          placing('store-orders', ours, ours.headers, context),
          [
            // Random orders, like random keys, touch a page of the database each.
            cancelling('its cancels', cancels, cancels.headers, CONNECTIONS, context, count),
            placing('node:sqlite by hand', peer, {}, context),
          ],
          context.rounds,
        );
        return ratioRows('durable placement', comparisons, 'orders/s', [{ atLeast: 0.6 }]);
      });
    } finally {
      await cancels.stop();
    }
  },
};

function placing(
  name: string,
  { origin }: Server,
  headers: Readonly<Record<string, string>>,
  { folder, seconds }: Context,
): Side {
  let from = 0;
  return {
    name,
    measure: async () => {
      const load: Load = {
        ...{ url: `${origin}/v2/store/orders`, method: 'POST', connections: CONNECTIONS, seconds },
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: '{"petId":1,"quantity":1}',
        ...{ idsFrom: from, idHeader: 'Idempotency-Key' },
      };
      const { requestsPerSecond, errors } = await applyLoad(load, folder);
      if (errors > 0) throw new Error(`${name}: ${errors} placements were refused`);
      from += Math.ceil(requestsPerSecond * (seconds + 1)) + 1_000;
      return requestsPerSecond;
    },
  };
}

export const v2Changes: Scenario = {
  title: 'v2: all changes of 1,000,000 orders from the start, one client',
  needs: [],
  run: (context) =>
    both(context, 'changes', async (ours, peer) => {
      const walk = (name: string, { origin }: Server, kind: string): Side => ({
        name,
        measure: async () => {
          const url = `${origin}/v2/store/changes?limit=500`;
          const command = [process.execPath, WALK, url, kind, ours.headers.Authorization!];
          return Number(await runOnLoadCore(command));
        },
      });
      const comparisons = await compare(
        walk('store-orders', ours, 'ours'),
        [walk('node:sqlite by hand', peer, 'by hand')],
        Math.min(context.rounds, 3),
      );
      return ratioRows('changes', comparisons, 'changes/s', []);
    }),
};

const STREAM_COUNT = 1_000;
const CHANGES_PER_SECOND = 1_000;

export const v2Streams: Scenario = {
  title: 'v2: 1,000 streams while 1,000 orders a second are placed',
  needs: [],
  run: async (context) => {
    const database = context.database(0, 'streams');
    const service = await startService(database);
    const keys = Array.from({ length: 10 }, (_, index) =>
      cli(['keys', 'create', '--name', `stream ${index}`], database).trim(),
    );
    const run = async (streams: number): Promise<StreamsReport> => {
      const { seconds } = context;
      const port = Number(new URL(service.origin).port);
      const task: StreamsTask = {
        port,
        keys,
        streams,
        changesPerSecond: CHANGES_PER_SECOND,
        seconds,
      };
      return JSON.parse(await runOnLoadCore([process.execPath, STREAMS, JSON.stringify(task)]));
    };
    try {
      const [many, few]: [StreamsReport[], StreamsReport[]] = [[], []];
      for (let round = 0; round <= context.rounds; round += 1) {
        const [one, all] = [await run(10), await run(STREAM_COUNT)];
        if (round > 0) few.push(one);
        if (round > 0) many.push(all);
      }
      return streamRows(many, few);
    } finally {
      await service.stop();
    }
  },
};

function streamRows(many: readonly StreamsReport[], few: readonly StreamsReport[]): Row[] {
  const of = (reports: readonly StreamsReport[], what: keyof StreamsReport) =>
    reports.map((report) => report[what]);
  const row = (what: string, field: keyof StreamsReport, unit: string) =>
    ratioRows(what, [comparison('with 10 streams', of(many, field), of(few, field))], unit, []);
  return [
    ...row('delay of a change, p50', 'delayP50', 'ms'),
    ...row('delay of a change, p99', 'delayP99', 'ms'),
    ...row('placements', 'changesPerSecond', 'orders/s'),
  ];
}

export const v2Beside: Scenario = {
  title: 'v1 cancels, 2,000 a second, while 64 clients page through a filter that matches nothing',
  needs: ['wrk'],
  run: async (context) => {
    const service = await startService(context.database(context.orders(ORDERS), 'beside'));
    let firstId = 1;
    const cancels = async () => {
      const load = { listConnections: 0, cancelsPerSecond: 2_000, firstId };
      const report = await listAndCancel(service, {
        ...load,
        ...{ seconds: context.seconds, maxCancels: ORDERS },
      });
      firstId = report.nextId;
      return report.cancelP99;
    };
    const paging = () =>
      applyLoad(
        {
          url: `${service.origin}/v2/store/orders?status=shipped`,
          headers: service.headers,
          ...{ connections: CONNECTIONS, seconds: context.seconds + 1 },
        },
        context.folder,
      );
    try {
      const [alone, beside]: [number[], number[]] = [[], []];
      for (let round = 0; round <= context.rounds; round += 1) {
        const [own, [other]] = [await cancels(), await Promise.all([cancels(), paging()])];
        if (round > 0) alone.push(own);
        if (round > 0) beside.push(other);
      }
      const p99 = comparison('cancels alone', beside, alone);
      return ratioRows('p99 of cancels beside paging', [p99], 'ms', [{ atMost: 2 }]);
    } finally {
      await service.stop();
    }
  },
};
