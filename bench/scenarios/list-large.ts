import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { compare } from '../compare.ts';
import { type Context, type Row, ratioRows, type Scenario } from '../context.ts';
import { asking } from '../load.ts';
import { startNginx } from '../peers/nginx.ts';
import { startService, untilCompressed } from '../store-orders.ts';

const CONNECTIONS = 8;
/** The same as in store-orders. */
const GZIP_LEVEL = 6;

export const listLarge: Scenario = {
  title: 'List 100,000 and 1,000,000 orders, 8 connections',
  needs: ['nginx'],
  run: async (context) => [
    ...(await listed(context, 100_000, 'identity', 1.5)),
    ...(await listed(context, 1_000_000, 'identity', 1.5)),
  ],
};

export const listCompressed: Scenario = {
  title: 'List 1,000,000 orders, compressed, 8 connections',
  needs: ['nginx'],
  run: async (context) => [...(await listed(context, 1_000_000, 'gzip', 1))],
};

/** Compares with the same list as a static file; if compressed, as a gzip file that nginx sends as it is. */
async function listed(
  context: Context,
  most: number,
  coding: string,
  reach: number,
): Promise<Row[]> {
  const { folder, rounds } = context;
  const count = context.orders(most);
  const isCompressed = coding !== 'identity';
  const ours = await startService(context.database(count, 'large'));
  const body = Buffer.from(await (await fetch(ours.list, { headers: ours.headers })).arrayBuffer());
  writeFileSync(join(folder, 'large.json'), body);
  if (isCompressed) {
    writeFileSync(join(folder, 'large.json.gz'), gzipSync(body, { level: GZIP_LEVEL }));
    await untilCompressed(ours, coding);
  }
  const nginx = await startNginx(folder);
  const side = (name: string, url: string, headers: Record<string, string>) =>
    asking(name, { url, headers, connections: CONNECTIONS }, context);
  try {
    const accepting = { 'Accept-Encoding': coding };
    const gzip = { 'Accept-Encoding': isCompressed ? 'gzip' : 'identity' };
    const comparisons = await compare(
      side('store-orders', ours.list, { ...ours.headers, ...accepting }),
      [
        side(
          `nginx, ${isCompressed ? 'gzip_static' : 'static file'}`,
          `${nginx.origin}/large.json`,
          gzip,
        ),
      ],
      rounds,
    );
    const what = `list ${count.toLocaleString('en-US')} orders${isCompressed ? `, ${coding}` : ''}`;
    return ratioRows(what, comparisons, 'lists/s', [{ atLeast: reach }]);
  } finally {
    await ours.stop();
    await nginx.stop();
  }
}
