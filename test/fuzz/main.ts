// node test/fuzz/main.ts [--seed N --connections N --keep-going]: random connections against the running program.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { run } from '../process/program.ts';
import { Random } from '../torture/random.ts';
import { play } from './client.ts';
import type { Target } from './requests.ts';
import { type Script, scriptOf } from './script.ts';
import { FuzzServer, type ResourceUsage } from './server.ts';
import type { Step } from './step.ts';
import { isAnswered, type Outcomes, verify } from './verify.ts';

/** A list of 5.5 MB, more than the system buffers for a client that does not read. */
const ORDERS = 60_000;
/** Distance between the ids of successive target orders; coprime to ORDERS. */
const STRIDE = 7_919;
/** Connections per server process, before its resources are measured and it is stopped. */
const ROUND = 2_500;
const CONCURRENCY = 128;
/** Connections before the first measurement of resources, to warm up caches. */
const WARM_UP = 250;
/** Permitted growth in a round; the process is meant to keep one list and its compressed form only. */
const MAX_GROWTH_BYTES = 24 * 1024 * 1024;
/**
 * How long the server may take to close all connections after the last client has disconnected. A stream without events notices that with
 * its next comment, after at most 15 s.
 */
const SETTLE_MS = 17_000;
const LIST_READ_WITHIN_MS = 30_000;
/** Clients that are in the middle of a list at shutdown. */
const READERS_AT_SHUTDOWN = 24;

const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    connections: { type: 'string', default: '10000' },
    'keep-going': { type: 'boolean', default: false },
  },
});
const seed = Number(flags.seed);
const connections = Number(flags.connections);

const folder = mkdtempSync(join(tmpdir(), 'store-orders-fuzz-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const startedAt = performance.now();
const findings: string[] = [];
let played = 0;
const secret = await makeSeed(join(folder, 'seed.db'));
for (let round = 0; played < connections; round += 1) {
  await runRound(round, Math.min(ROUND, connections - played));
  if (findings.length > 0 && !flags['keep-going']) break;
}
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
for (const finding of findings) console.log(finding);
console.log(`seed ${seed}: ${played} connections in ${seconds} s, ${findings.length} findings`);
process.exitCode = findings.length > 0 ? 1 : 0;

/** Creates the store of pending orders that each round copies. @returns the secret of its key */
async function makeSeed(path: string): Promise<string> {
  const orders = Array.from(
    { length: ORDERS },
    (_, index) =>
      `{"id":${index + 1},"petId":${index % 1000},"quantity":1,"shipDate":"2026-12-01T09:30:00Z","complete":false}`,
  );
  const file = join(folder, 'orders.ndjson');
  writeFileSync(file, orders.join('\n'));
  const database = ['--database', `sqlite:${path}`];
  const imported = await run(['import', file, ...database]);
  const key = await run(['keys', 'create', '--name', 'fuzz', ...database]);
  if (imported.code !== 0 || key.code !== 0) throw new Error(imported.stderr + key.stderr);
  return key.stdout.trim();
}

/** Runs one server from its start to a graceful shutdown. */
async function runRound(round: number, count: number): Promise<void> {
  const path = join(folder, `round-${round}.db`);
  copyFileSync(join(folder, 'seed.db'), path);
  const server = await FuzzServer.start(`sqlite:${path}`);
  const outcomes: Outcomes = { placed: new Set(), confirmed: new Set(), unknown: new Set() };
  let order = 0;
  // Spread over the list, so that many of its blocks change.
  const target: Target = { secret, newOrder: () => ((order++ * STRIDE) % ORDERS) + 1 };
  const report = (what: string) => findings.push(`round ${round}, after ${played}: ${what}`);
  try {
    await listRead(server.port);
    await playAll(server, WARM_UP, target, outcomes);
    const before = await settled(server);
    const descriptors = server.descriptors();
    await playAll(server, count, target, outcomes);
    if (server.ended === undefined) {
      const after = await settled(server);
      const grown = after.bytes - before.bytes;
      if (grown > MAX_GROWTH_BYTES)
        report(`holds ${(grown / 2 ** 20).toFixed(0)} MiB more than before`);
      if (after.sockets > before.sockets) report(`holds ${after.sockets - before.sockets} sockets`);
      // A database connection may open or close a file meanwhile.
      const opened = server.descriptors() - descriptors;
      if (opened > 2) report(`holds ${opened} descriptors more than before`);
      await stopWhileReading(server, target, outcomes);
    }
    if (server.ended !== 'exit 0') report(`the server ended with ${server.ended}`);
    if (server.stderr !== '') report(`stderr: ${server.stderr.slice(0, 600)}`);
  } catch (error) {
    report(`the server ended with ${server.ended}: ${(error as Error).message}\n${server.stderr}`);
  } finally {
    server.kill();
  }
  for (const difference of compare(path, outcomes)) report(difference);
}

/** Requests the list until it is in memory: until then, 503 is a correct response to each request for it. */
async function listRead(port: number): Promise<void> {
  const headers = { Authorization: `Bearer ${secret}` };
  const until = performance.now() + LIST_READ_WITHIN_MS;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/store/orders`, { headers });
    await response.arrayBuffer();
    if (response.ok) return;
    if (response.status !== 503 || performance.now() > until)
      throw new Error(`the list was answered ${response.status}`);
  }
}

/** Plays `count` scripts, CONCURRENCY at a time, or until the server ends. */
async function playAll(
  server: FuzzServer,
  count: number,
  target: Target,
  outcomes: Outcomes,
): Promise<void> {
  let left = count;
  const playSome = async () => {
    while (left > 0 && server.ended === undefined) {
      left -= 1;
      played += 1;
      // One per connection, so that each depends on the seed only, not on the timing of the others.
      const random = new Random(seed ^ Math.imul(played, 0x9e3779b9));
      await playOne(scriptOf(played, random, target), server, random, outcomes);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, playSome));
}

async function playOne(
  script: Script,
  server: FuzzServer,
  random: Random,
  outcomes: Outcomes,
): Promise<void> {
  const { steps, delivery, ending, delayMs, stallAt } = script;
  const result = await play(script, server.port, random, (received) =>
    isAnswered(script, received),
  );
  // Once the process has ended, failures of its connections are not findings of their own.
  const found = verify(script, result, outcomes).filter(() => server.ended === undefined);
  if (found.length === 0) return;
  const names = steps.map(({ name }) => name).join(', ');
  findings.push(
    `connection ${script.index} [${names}; ${delivery}; ${ending} ${delayMs} ms at ${stallAt}]: ${found.join('; ')}`,
  );
}

/** The resource usage once the server has closed all connections, or SETTLE_MS have passed. */
async function settled(server: FuzzServer): Promise<ResourceUsage> {
  const until = performance.now() + SETTLE_MS;
  for (;;) {
    const usage = await server.usage();
    // Listeners are not counted. Some connections may still be closing in stages.
    if (usage.sockets === 0 || performance.now() > until) return usage;
    await pause(50);
  }
}

/** Stops the server while clients pause in the middle of a response, each at a different point. */
async function stopWhileReading(
  server: FuzzServer,
  target: Target,
  outcomes: Outcomes,
): Promise<void> {
  const random = new Random(seed);
  const head = `Host: x\r\nAuthorization: Bearer ${target.secret}\r\n`;
  const readers = Array.from({ length: READERS_AT_SHUTDOWN }, async (_, index) => {
    const id = target.newOrder();
    const cancel = `DELETE /v1/store/orders/${id} HTTP/1.1\r\n${head}`;
    const list: Step = {
      name: 'list at shutdown',
      bytes: `GET /v1/store/orders HTTP/1.1\r\n${head}\r\n`,
      statuses: [200],
      body: 'list',
    };
    const incomplete = { name: 'incomplete at shutdown', statuses: [400, 408], isOptional: true };
    const following: Step[] = [
      { name: 'cancel at shutdown', bytes: `${cancel}\r\n`, statuses: [204], cancels: id },
      { ...incomplete, bytes: `${cancel}Content-Length: 9\r\n\r\nabc` },
      { ...incomplete, bytes: cancel.slice(0, 30) },
    ];
    const script: Script = {
      index: played,
      steps: [list, ...following.slice(index % 4, (index % 4) + 1)],
      delivery: 'whole',
      ending: 'stall',
      delayMs: 1_200,
      stallAt: 1 + Math.floor(index / 2) * 100_000,
    };
    await playOne(script, server, random, outcomes);
  });
  await pause(600);
  await Promise.all([server.stop(), ...readers]);
}

/** Compares the store with the responses to clients. @returns the differences */
function compare(path: string, { placed, confirmed, unknown }: Outcomes): string[] {
  const db = new DatabaseSync(path);
  const rows = db
    .prepare(`SELECT order_id, count(*) AS times FROM order_events WHERE type = 'cancelled'
      GROUP BY order_id`)
    .all() as { order_id: number; times: number }[];
  const exists = db.prepare('SELECT 1 FROM orders WHERE id = ?');
  const notPlaced = [...placed].filter((id) => exists.get(id) === undefined);
  db.close();
  const cancelled = new Map(rows.map(({ order_id, times }) => [order_id, times]));
  const lost = [...confirmed].filter((id) => !cancelled.has(id));
  const unrequested = [...cancelled.keys()].filter((id) => !confirmed.has(id) && !unknown.has(id));
  const twice = rows.filter(({ times }) => times > 1).map(({ order_id }) => order_id);
  return [
    ...notPlaced.map((id) => `order ${id} was answered 201 and does not exist`),
    ...lost.map((id) => `the cancel of order ${id} was confirmed, and it is not cancelled`),
    ...unrequested.map((id) => `order ${id} is cancelled though no response said so`),
    ...twice.map((id) => `order ${id} was cancelled twice`),
  ];
}
