// npm run fuzz [-- --seed N --connections N --keep-going]: random connections against the running program.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { run } from '../process/program.ts';
import { play } from './client.ts';
import { Random } from './random.ts';
import { type Script, type Step, scriptOf, type Target } from './script.ts';
import { FuzzServer, type Holdings } from './server.ts';
import { type Cancels, isAnswered, verify } from './verify.ts';

/** A list of 5.5 MB, more than the system's buffers take of a connection whose client does not read. */
const ORDERS = 60_000;
/** Between two orders that scripts are about; has no divisor in common with ORDERS. */
const STRIDE = 7_919;
/** Connections of one server process, after which it is asked what it holds and then stopped. */
const ROUND = 2_500;
const AT_A_TIME = 128;
/** Connections before the process is first asked what it holds: caches are warm then. */
const WARM_UP = 250;
/** What it may hold more at the end of a round; all it is meant to keep is one list and its compressed form. */
const MAX_GROWTH_BYTES = 24 * 1024 * 1024;
/** Until all connections of a round are gone from the server, after the last client has left. */
const SETTLE_MS = 6_000;
/** Clients that are in the middle of a list when the server is told to stop. */
const READERS_AT_THE_END = 24;

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

/** A store of pending orders, made once for all rounds. @returns the secret of its key */
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

/** One server, from its start to its stop in good order. */
async function runRound(round: number, count: number): Promise<void> {
  const path = join(folder, `round-${round}.db`);
  copyFileSync(join(folder, 'seed.db'), path);
  const server = await FuzzServer.start(`sqlite:${path}`);
  const cancels: Cancels = { confirmed: new Set(), unknown: new Set() };
  let order = 0;
  // Spread over the list, so that many of its blocks change.
  const target: Target = { secret, newOrder: () => ((order++ * STRIDE) % ORDERS) + 1 };
  const find = (what: string) => findings.push(`round ${round}, after ${played}: ${what}`);
  try {
    await playAll(server, WARM_UP, target, cancels);
    const before = await settled(server);
    const descriptors = server.descriptors();
    await playAll(server, count, target, cancels);
    if (server.ended === undefined) {
      const after = await settled(server);
      const grown = after.bytes - before.bytes;
      if (grown > MAX_GROWTH_BYTES)
        find(`holds ${(grown / 2 ** 20).toFixed(0)} MiB more than before`);
      if (after.sockets > before.sockets) find(`holds ${after.sockets - before.sockets} sockets`);
      // A database connection may open or close a file meanwhile.
      const opened = server.descriptors() - descriptors;
      if (opened > 2) find(`holds ${opened} descriptors more than before`);
      await stopWhileReading(server, target, cancels);
    }
    if (server.ended !== 'exit 0') find(`the server has ended with ${server.ended}`);
    if (server.stderr !== '') find(`stderr: ${server.stderr.slice(0, 600)}`);
  } catch (error) {
    find(
      `the server has ended with ${server.ended}: ${(error as Error).message}\n${server.stderr}`,
    );
  } finally {
    server.kill();
  }
  for (const difference of compare(path, cancels)) find(difference);
}

/** Plays so many scripts, some at a time, until the server is gone. */
async function playAll(
  server: FuzzServer,
  count: number,
  target: Target,
  cancels: Cancels,
): Promise<void> {
  let left = count;
  const playSome = async () => {
    while (left > 0 && server.ended === undefined) {
      left -= 1;
      played += 1;
      // Of its own, so that a connection is the same for the same seed, however the others come and go.
      const random = new Random(seed ^ Math.imul(played, 0x9e3779b9));
      await playOne(scriptOf(played, random, target), server, random, cancels);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, playSome));
}

async function playOne(
  script: Script,
  server: FuzzServer,
  random: Random,
  cancels: Cancels,
): Promise<void> {
  const { steps, delivery, ending, delayMs, stallAt } = script;
  const result = await play(script, server.port, random, (received) =>
    isAnswered(script, received),
  );
  // What the connections say of a process that has ended is no news.
  const found = verify(script, result, cancels).filter(() => server.ended === undefined);
  if (found.length === 0) return;
  const names = steps.map(({ name }) => name).join(', ');
  findings.push(
    `connection ${script.index} [${names}; ${delivery}; ${ending} ${delayMs} ms at ${stallAt}]: ${found.join('; ')}`,
  );
}

/** What the server holds when it has seen all connections end. */
async function settled(server: FuzzServer): Promise<Holdings> {
  const until = performance.now() + SETTLE_MS;
  for (;;) {
    const holdings = await server.holdings();
    // Listeners are not counted. Some connection may still be closing in stages.
    if (holdings.sockets === 0 || performance.now() > until) return holdings;
    await pause(50);
  }
}

/** Stops the server while clients stand still in the middle of an answer, each at another place. */
async function stopWhileReading(
  server: FuzzServer,
  target: Target,
  cancels: Cancels,
): Promise<void> {
  const random = new Random(seed);
  const head = `Host: x\r\nAuthorization: Bearer ${target.secret}\r\n`;
  const readers = Array.from({ length: READERS_AT_THE_END }, async (_, index) => {
    const id = target.newOrder();
    const cancel = `DELETE /v1/store/orders/${id} HTTP/1.1\r\n${head}`;
    const list: Step = {
      name: 'list at the end',
      bytes: `GET /v1/store/orders HTTP/1.1\r\n${head}\r\n`,
      statuses: [200],
      body: 'list',
    };
    const half = { name: 'half at the end', statuses: [400, 408], isOptional: true };
    const behind: Step[] = [
      { name: 'cancel at the end', bytes: `${cancel}\r\n`, statuses: [204], cancels: id },
      { ...half, bytes: `${cancel}Content-Length: 9\r\n\r\nabc` },
      { ...half, bytes: cancel.slice(0, 30) },
    ];
    const script: Script = {
      index: played,
      steps: [list, ...behind.slice(index % 4, (index % 4) + 1)],
      delivery: 'whole',
      ending: 'stall',
      delayMs: 1_200,
      stallAt: 1 + Math.floor(index / 2) * 100_000,
    };
    await playOne(script, server, random, cancels);
  });
  await pause(600);
  await Promise.all([server.stop(), ...readers]);
}

/** What the store says beside what clients were told. */
function compare(path: string, { confirmed, unknown }: Cancels): string[] {
  const db = new DatabaseSync(path);
  const rows = db
    .prepare(`SELECT order_id, count(*) AS times FROM order_events WHERE type = 'cancelled'
      GROUP BY order_id`)
    .all() as { order_id: number; times: number }[];
  db.close();
  const cancelled = new Map(rows.map(({ order_id, times }) => [order_id, times]));
  const lost = [...confirmed].filter((id) => !cancelled.has(id));
  const uninvited = [...cancelled.keys()].filter((id) => !confirmed.has(id) && !unknown.has(id));
  const twice = rows.filter(({ times }) => times > 1).map(({ order_id }) => order_id);
  return [
    ...lost.map((id) => `order ${id} was answered 204 and is not cancelled`),
    ...uninvited.map((id) => `order ${id} is cancelled though no answer said so`),
    ...twice.map((id) => `order ${id} was cancelled twice`),
  ];
}
