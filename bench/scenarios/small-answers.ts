import { fileURLToPath } from 'node:url';
import { newSecret } from '../../src/domain/api-key.ts';
import { compare } from '../compare.ts';
import { type Context, type Row, ratioRows, type Scenario } from '../context.ts';
import { asking } from '../load.ts';
import { startServer } from '../processes.ts';
import { startService } from '../store-orders.ts';

const peer = (name: string) => fileURLToPath(new URL(`../peers/${name}`, import.meta.url));

export const unchanged: Scenario = {
  title: 'If-None-Match, unchanged, 64 connections',
  needs: [],
  run: async (context) => {
    const service = await startService(context.database(1_000, 'unchanged'));
    const { headers } = await fetch(service.list, { headers: service.headers });
    const etag = headers.get('etag')!;
    return against(context, 'unchanged list', 'node-http.ts', 'bare node:http, 304', 0.9, service, {
      own: { ...service.headers, 'If-None-Match': etag },
      peer: { ...service.headers, 'If-None-Match': '"1"' },
    });
  },
};

export const refusedKey: Scenario = {
  title: 'Refused key, 64 connections',
  needs: [],
  run: async (context) => {
    const service = await startService(context.database(1_000, 'refused'));
    return against(
      context,
      'refused key (401)',
      'empty-fastify.js',
      'empty Fastify handler',
      0.8,
      service,
      {
        isRefused: true,
        own: { Authorization: `Bearer ${newSecret('production')}` },
        peer: service.headers,
      },
    );
  },
};

/** Equivalent headers for both sides. */
interface Headers {
  /** Whether store-orders refuses them. */
  readonly isRefused?: boolean;
  readonly own: Readonly<Record<string, string>>;
  readonly peer: Readonly<Record<string, string>>;
}

async function against(
  context: Context,
  what: string,
  program: string,
  name: string,
  reach: number,
  service: Awaited<ReturnType<typeof startService>>,
  headers: Headers,
): Promise<Row[]> {
  const other = await startServer(() => [process.execPath, peer(program)], {
    portVariable: 'PORT',
  });
  const side = (label: string, url: string, fields: Headers['own'], expectsErrors = false) =>
    asking(label, { url, headers: fields, connections: 64 }, context, { expectsErrors });
  try {
    const comparisons = await compare(
      side('store-orders', service.list, headers.own, headers.isRefused),
      [side(name, `${other.origin}/v1/store/orders`, headers.peer)],
      context.rounds,
    );
    return ratioRows(what, comparisons, 'answers/s', [{ atLeast: reach }]);
  } finally {
    await service.stop();
    await other.stop();
  }
}
