import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { newSecret } from '../../../src/domain/api-key.ts';
import { succeed } from '../command.ts';
import { type Call, send } from '../http.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

const LIMIT_MS = 10_000;
/** Traces are exported every 5 s. */
const EXPORTED_MS = 7_000;

/** Valid and wrong keys are sent in all the ways in which clients send them by mistake. */
export const canary: Attack = {
  name: 'valid and wrong keys in paths, queries, headers and bodies',
  mustHold:
    'neither is in a log line, a response, a metric, a trace, a file of the store or a backup, nor in a string of the heap but the key itself',
  make: async ({ folder }) => {
    const traces: string[] = [];
    const collector = createServer(async (incoming, response) => {
      traces.push(await text(incoming));
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const { server, secret, database } = await serveNew(folder, 10, {
      ...{ LOG_LEVEL: 'trace', OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
    });
    const agent = new Agent({ keepAlive: true });
    const responses: string[] = [];
    const secrets = [secret, newSecret('production'), newSecret('staging')];
    for (const key of secrets) {
      // Of requests without a key, a node logs 100 in a second.
      await pause(1_000);
      for (const call of mistakes(key)) {
        const answer = await send({ port: server.port, agent, limitMs: LIMIT_MS }, call).catch(
          () => undefined,
        );
        if (answer !== undefined) responses.push(JSON.stringify(answer));
      }
    }
    const metrics = await (await fetch(`${server.operations}/metrics`)).text();
    await succeed(['backup', join(folder, 'canary-backup.db'), '--database', database]);
    await pause(EXPORTED_MS);
    const heap = join(folder, 'canary.heapsnapshot');
    await server.writeHeap(heap);
    agent.destroy();
    await server.stop();
    collector.close();
    const strings = (JSON.parse(readFileSync(heap, 'utf8')).strings as string[]).filter(
      (each) => !secrets.some((key) => each === key || each === `Bearer ${key}`),
    );
    const files = readdirSync(folder).filter((name) => name.includes('.db'));
    const places: readonly (readonly [string, string])[] = [
      ['the log', server.stdout + server.stderr],
      ['a response', responses.join('\n')],
      ['a metric', metrics],
      ['a trace', traces.join('\n')],
      ...files.map((name) => [name, readFileSync(join(folder, name), 'latin1')] as const),
      ['the heap', strings.join('\n')],
    ];
    // Without the last characters, a part of the key would be found too.
    const parts = secrets.map((key) => key.slice(0, -10));
    const sought = [...parts, ...parts.map(percentEncoded)];
    const found = places.filter(([, content]) => sought.some((part) => content.includes(part)));
    const lines = server.stdout.split('\n').length;
    const figures =
      found.length > 0
        ? `found in ${found.map(([name]) => name).join(', ')}`
        : `${lines} log lines, ${responses.length} responses, ${traces.length} exports of traces, ${files.length} files, ${strings.length} strings of the heap`;
    return { figures, isKept: found.length === 0 && traces.length > 0 && lines > responses.length };
  },
};

/** Every character as a client may send it in a path or a query. */
function percentEncoded(text: string): string {
  return Buffer.from(text).toString('hex').replaceAll(/../g, '%$&');
}

/** Requests that contain a key where it belongs, and where it does not. */
function mistakes(key: string): Call[] {
  const path = '/v2/store/orders/1';
  const get = (headers: Record<string, string>, query = ''): Call => ({
    method: 'GET',
    path: path + query,
    headers,
  });
  return [
    ...[
      `Bearer ${key}`,
      `bearer ${key}`,
      `Bearer  ${key}`,
      `Basic ${key}`,
      key,
      `Bearer ${key}x`,
      `Bearer ${key} ${key}`,
    ].map((authorization) => get({ authorization })),
    get({ authorization: `Bearer ${key}` }, `?key=${key}`),
    get({}, `?access_token=${key}`),
    get({}, `/${key}`),
    get({}, `/${percentEncoded(key)}`),
    get({}, `?key=${percentEncoded(key)}`),
    // What cannot be decoded as a whole.
    ...['%', '%FF', '%C3%28', '%zz'].flatMap((broken) => [
      get({}, `/${key}${broken}`),
      get({}, `/${broken}${percentEncoded(key)}`),
      get({ 'x-forwarded-for': `${broken}${key}`, referer: `/${key}${broken}` }),
    ]),
    get({ authorization: `Bearer ${key}` }, `/${key}?reference=${key}`),
    ...[
      'x-api-key',
      'cookie',
      'x-request-id',
      'idempotency-key',
      'if-none-match',
      'if-match',
      'user-agent',
      'referer',
      'origin',
      'traceparent',
      'x-forwarded-for',
      'host',
    ].map((name) => get({ [name]: key })),
    {
      method: 'POST',
      path: '/v2/store/orders',
      secret: key,
      headers: { 'idempotency-key': key },
      body: `{"petId":"${key}"}`,
    },
    {
      method: 'POST',
      path: '/v2/store/orders',
      secret: key,
      headers: { 'idempotency-key': 'a' },
      body: `{"${key}":1`,
    },
  ];
}
