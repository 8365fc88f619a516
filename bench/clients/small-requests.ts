// Sends small requests of an ordinary key, one after another. Takes a Task as JSON, and prints a Report.

import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Task {
  readonly origin: string;
  readonly authorization: string;
  readonly seconds: number;
  /** Orders from this id on are pending. */
  readonly firstId: number;
}

export type Kind = 'list' | 'page' | 'count' | 'cancel';

export interface Report {
  /** In milliseconds, the 99th percentile. */
  readonly p99: Readonly<Record<Kind, number>>;
  /** Responses other than 2xx and 304. */
  readonly refused: number;
  readonly nextId: number;
}

/** Leaves the service idle most of the time. */
const PAUSE_MS = 5;

const task: Task = JSON.parse(process.argv[2]!);
const agent = new Agent({ keepAlive: true });
let refused = 0;

/** Returns the ETag of the response. */
function ask(method: string, path: string, headers = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const all = { authorization: task.authorization, ...headers };
  const sent = request(task.origin + path, { method, agent, headers: all }, (response) => {
    const { statusCode = 0, headers: answered } = response;
    if (statusCode >= 400) refused += 1;
    response.resume().on('end', () => resolve(answered.etag ?? ''));
  });
  sent.on('error', reject).end();
  return promise;
}

let nextId = task.firstId;
let etag = '';
const requests: Readonly<Record<Kind, () => Promise<unknown>>> = {
  list: async () => {
    etag = await ask('GET', '/v1/store/orders', { 'if-none-match': etag });
  },
  page: () => ask('GET', '/v2/store/orders'),
  count: () => ask('GET', '/v2/store/counts?petId=7'),
  cancel: async () => {
    await ask('DELETE', `/v1/store/orders/${nextId}`);
    nextId += 1;
  },
};

const latencies: Record<Kind, number[]> = { list: [], page: [], count: [], cancel: [] };
etag = await ask('HEAD', '/v1/store/orders');
for (const end = performance.now() + task.seconds * 1000; performance.now() < end; ) {
  for (const kind of Object.keys(requests) as Kind[]) {
    const begin = performance.now();
    await requests[kind]();
    latencies[kind].push(performance.now() - begin);
    // The list has changed: the next one is read before the others, and not measured.
    if (kind === 'cancel') etag = await ask('HEAD', '/v1/store/orders');
    await sleep(PAUSE_MS);
  }
}
agent.destroy();
const p99 = (kind: Kind) => {
  const sorted = latencies[kind].toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)]!;
};
const report: Report = {
  p99: { list: p99('list'), page: p99('page'), count: p99('count'), cancel: p99('cancel') },
  refused,
  nextId,
};
process.stdout.write(JSON.stringify(report));
