import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compare, comparison } from '../compare.ts';
import { ratioRows, type Scenario } from '../context.ts';
import { runOnLoadCore } from '../processes.ts';
import { startService } from '../store-orders.ts';
import { listAndCancel } from './list-during-cancels.ts';

const RECEIVE = fileURLToPath(new URL('../clients/receive-webhooks.ts', import.meta.url));
const WALK = fileURLToPath(new URL('../clients/walk-changes.ts', import.meta.url));
const CANCEL_MANY = fileURLToPath(new URL('../clients/cancel-many.ts', import.meta.url));
const ORDERS = 200_000;
const WEBHOOKS = 10;
/** Cancels of the backlog, and how many of them are one revision. */
const [BACKLOG, PER_REVISION] = [40_000, 25];

export const webhooks: Scenario = {
  title: `v2: changes to ${WEBHOOKS} webhooks on SQLite, in deliveries of 100`,
  needs: [],
  run: async (context) => {
    const database = context.database(context.orders(ORDERS), 'webhooks');
    const service = await startService(database, { env: { WEBHOOK_ALLOW: '127.0.0.1,http' } });
    const { origin, headers, stop } = service;
    const authorization = headers.Authorization!;
    const node = (program: string, ...args: (string | number)[]) =>
      runOnLoadCore([process.execPath, program, ...args.map(String)]);
    const receive = (after: string, total: number) =>
      node(RECEIVE, origin, authorization, WEBHOOKS, after, total);
    try {
      const response = await fetch(`${origin}/v2/store/changes?after=now`, { headers });
      const { next: after } = (await response.json()) as { next: string };
      await node(CANCEL_MANY, origin, authorization, 1, BACKLOG, PER_REVISION);
      const backlog = await compare(
        { name: 'webhooks', measure: async () => Number(await receive(after, BACKLOG)) },
        [
          {
            name: 'one client that reads pages',
            measure: async () => {
              const url = `${origin}/v2/store/changes?limit=100`;
              return Number(await node(WALK, url, 'ours', authorization, `&after=${after}`));
            },
          },
        ],
        context.rounds,
      );
      let firstId = BACKLOG + 1;
      const [alone, beside]: [number[], number[]] = [[], []];
      for (let round = 0; round <= context.rounds * 2; round += 1) {
        const load = { listConnections: 0, cancelsPerSecond: 2_000, firstId };
        const most = 2_000 * context.seconds;
        const receiving = round % 2 === 0 ? undefined : receive('now', most * 0.9);
        // Until the webhooks are created.
        await sleep(2_000);
        const { cancelP99, nextId } = await listAndCancel(service, {
          ...load,
          ...{ seconds: context.seconds, maxCancels: ORDERS },
        });
        await receiving;
        firstId = nextId;
        if (round > 0) (receiving === undefined ? alone : beside).push(cancelP99);
      }
      return [
        ...ratioRows('changes delivered, all webhooks together', backlog, 'changes/s', [
          { atLeast: 1 },
        ]),
        ...ratioRows(
          `p99 of 2,000 cancels/s beside ${WEBHOOKS} webhooks`,
          [comparison('cancels alone', beside, alone)],
          'ms',
          [{ atMost: 3 }],
        ),
      ];
    } finally {
      await stop();
    }
  },
};
