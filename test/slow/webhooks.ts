import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import {
  type OrderRecord,
  type ReplicaPosition,
  StoreOrders,
  verifyWebhook,
  WebhookGapError,
  WebhookReplica,
} from '../../client/src/client.ts';
import { type Received, startReceiver } from '../feed/receiver.ts';
import { eventually } from '../postgres.ts';
import { NEEDS_PYTHON } from '../process/needs.ts';
import { type Running, run, serve } from '../process/program.ts';
import { newPostgresDatabase } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';

const BEGINNING = `0-${'0'.repeat(64)}`;
/** Another node continues within this time after a kill. */
const TAKEN_OVER_MS = 15_000;
/** How long everything may take to arrive in the end: a repetition can wait half a minute. */
const CAUGHT_UP_MS = 90_000;

const exact = (value: unknown) =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each));

/** Nodes on one database, which may call this machine; killed nodes are replaced. */
class Nodes {
  readonly #t: TestContext;
  readonly #database: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly running: Running[] = [];
  secret = '';

  constructor(t: TestContext, database: string) {
    this.#t = t;
    this.#database = database;
    const keyFile = join(temporaryFolder(t), 'webhook.key');
    writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
    this.#env = { WEBHOOK_KEY_FILE: keyFile, WEBHOOK_ALLOW: '127.0.0.1,http' };
  }

  async start(): Promise<Running> {
    const args = this.secret === '' ? [] : ['--no-first-key'];
    const options = { database: this.#database, expectsKey: false, env: this.#env };
    const node = await serve(this.#t, args, options);
    this.running.push(node);
    if (this.secret === '') {
      const { stdout } = await run(['keys', 'create', '--name', 't', ...this.database]);
      this.secret = stdout.trim();
    }
    return node;
  }

  get database(): readonly string[] {
    return ['--database', this.#database];
  }

  command(...args: string[]) {
    return run([...args, ...this.database], { env: this.#env });
  }

  client({ origin }: Running): StoreOrders {
    return new StoreOrders({ baseUrl: origin, apiKey: this.secret, retries: 0 });
  }

  /** The node that delivers. */
  async delivering(): Promise<Running> {
    return eventually(async () => {
      for (const node of this.running) {
        const metrics = await (await fetch(`${node.operations}/metrics`)).text();
        if (/^store_orders_webhooks_delivering 1$/m.test(metrics)) return node;
      }
      throw new Error('no node delivers');
    });
  }

  async end(node: Running, signal: NodeJS.Signals): Promise<void> {
    this.running.splice(this.running.indexOf(node), 1);
    await node.stop(signal);
  }
}

/** Places and cancels orders at random nodes, without regard to failures, until it is stopped. */
function writeOrders(nodes: Nodes): { readonly stop: () => Promise<number> } {
  let isStopped = false;
  let placed = 0;
  const lane = async () => {
    while (!isStopped) {
      const node = nodes.running[Math.floor(Math.random() * nodes.running.length)];
      try {
        const client = nodes.client(node!);
        const { id } = await client.placeOrder({ petId: BigInt(placed % 3) + 1n, quantity: 1n });
        placed += 1;
        if (placed % 2 === 0) await client.cancelOrder(id);
        await pause(5);
      } catch {
        await pause(50);
      }
    }
  };
  const lanes = [lane(), lane(), lane()];
  return {
    stop: async () => {
      isStopped = true;
      await Promise.all(lanes);
      return placed;
    },
  };
}

/** Creates a webhook from the first change on, whose receiver behaves in a way. */
async function endpoint(
  t: TestContext,
  nodes: Nodes,
  behave: Parameters<typeof startReceiver>[2],
  filter: object = {},
) {
  const secrets: string[] = [];
  const receiver = await startReceiver(t, () => secrets, behave);
  const client = nodes.client(nodes.running[0]!);
  const { secret, webhook } = await client.createWebhook({
    ...{ url: receiver.url, after: 'start' },
    ...filter,
  });
  secrets.push(secret);
  return { ...receiver, id: webhook.id };
}

/** A copy that is kept by deliveries, and by reading on where something is missing. */
async function replicaEndpoint(t: TestContext, nodes: Nodes) {
  const orders = new Map<bigint, OrderRecord>();
  let position: ReplicaPosition | undefined;
  const store = {
    load: async () => position,
    reset: async () => {
      orders.clear();
      position = undefined;
    },
    apply: async (changed: readonly OrderRecord[], to: ReplicaPosition) => {
      for (const order of changed) orders.set(order.id, order);
      position = to;
    },
  };
  const catchUp = async () => {
    await copy.catchUp(nodes.client(nodes.running[0]!));
  };
  const copy = new WebhookReplica(store);
  let gaps = 0;
  let secret = '';
  const server = createServer(async (request, response) => {
    try {
      const body = await text(request);
      // The reference library parses the JSON, which rounds ids: its result is not used.
      new StandardWebhook(secret).verify(body, request.headers as Record<string, string>);
      await copy.apply(await verifyWebhook(body, request.headers, secret));
      response.writeHead(204).end();
    } catch (error) {
      if (error instanceof WebhookGapError) {
        gaps += 1;
        await catchUp();
        response.writeHead(204).end();
      } else response.writeHead(503).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const client = nodes.client(nodes.running[0]!);
  const created = await client.createWebhook({ url: `http://127.0.0.1:${port}/`, after: 'start' });
  secret = created.secret;
  return { orders, gaps: () => gaps, id: created.webhook.id };
}

/** @returns the origin of a load balancer before the nodes */
async function balancer(t: TestContext, nodes: Nodes): Promise<string> {
  const server = createTcpServer((socket) => {
    const node = connect(nodes.running[0]!.port, '127.0.0.1');
    for (const each of [socket, node]) {
      each.on('error', () => {});
      each.on('close', () => (each === socket ? node : socket).destroy());
    }
    socket.pipe(node).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The receiver of docs/integrating.md in Python. */
async function pythonEndpoint(t: TestContext, nodes: Nodes) {
  const page = readFileSync(new URL('../../docs/integrating.md', import.meta.url), 'utf8');
  const program = /```python\n(# receive_webhooks\.py:.*?)```/s.exec(page)![1]!;
  const cwd = temporaryFolder(t);
  const file = join(cwd, 'receive_webhooks.py');
  writeFileSync(file, program);
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  free.close();
  const client = nodes.client(nodes.running[0]!);
  const { secret } = await client.createWebhook({
    url: `http://127.0.0.1:${port}/`,
    after: 'start',
  });
  const origin = await balancer(t, nodes);
  const env = {
    ...{ ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
    ...{ STORE_ORDERS_URL: origin, STORE_ORDERS_KEY: nodes.secret },
  };
  const child = spawn('python3', [file], { cwd, env, stdio: 'inherit' });
  t.after(() => child.kill('SIGKILL'));
  return {
    orders: () => {
      const db = new DatabaseSync(join(cwd, 'received.db'), { readOnly: true, readBigInts: true });
      const rows = db.prepare('SELECT id, record FROM orders ORDER BY id').all();
      db.close();
      return rows as unknown as { id: bigint; record: string }[];
    },
  };
}

/** All orders of the store, in ascending id. */
async function ordersIn(nodes: Nodes): Promise<OrderRecord[]> {
  return Array.fromAsync(nodes.client(nodes.running[0]!).orders());
}

/** All changes of the store, as `type id`. */
async function changesIn(nodes: Nodes): Promise<{ names: string[]; next: string }> {
  const names: string[] = [];
  for (let after = 'start'; ; ) {
    const page = await nodes.client(nodes.running[0]!).listChanges({ after, limit: 500 });
    names.push(...page.changes.map(({ type, order }) => `${type} ${order.id}`));
    if (!page.more) return { names, next: page.next };
    after = page.next;
  }
}

/**
 * Asserts that the deliveries that were accepted first are one chain without gap. After a restore, a chain begins again at an earlier
 * place of it.
 */
function assertChain(received: readonly Received[], restores = 0): string[] {
  const seen = new Set<string>();
  const names: string[] = [];
  const places = new Map([[BEGINNING, 0]]);
  let after = BEGINNING;
  let breaks = 0;
  for (const delivery of received) {
    if (delivery.status < 200 || delivery.status > 299 || seen.has(delivery.id)) continue;
    seen.add(delivery.id);
    if (delivery.after !== after) {
      breaks += 1;
      const place = places.get(delivery.after);
      assert.ok(place !== undefined, `${delivery.after} was never reached`);
      names.length = place;
    }
    names.push(...delivery.changes.map(({ type, order }) => `${type} ${order.id}`));
    after = delivery.next;
    places.set(after, names.length);
  }
  assert.ok(breaks <= restores, `${breaks} breaks`);
  return names;
}

/** Receivers of all kinds. */
async function receiversOf(t: TestContext, nodes: Nodes) {
  const every = (count: number, odd: number | 'nothing' | 'reset') => (_: unknown, index: number) =>
    index < 5 * count && index % count === count - 1 ? odd : 204;
  const slow = async (_: unknown, index: number) => {
    if (index === 3) await pause(14_000);
    return 200;
  };
  return {
    steady: await endpoint(t, nodes, () => 204),
    failing: await endpoint(t, nodes, every(9, 500)),
    redirecting: await endpoint(t, nodes, every(11, 302)),
    crashing: await endpoint(t, nodes, every(8, 'reset')),
    hanging: await endpoint(t, nodes, (_, index) => (index === 5 ? 'nothing' : 204)),
    slow: await endpoint(t, nodes, slow),
  };
}

for (const engine of ['SQLite', 'PostgreSQL'] as const) {
  test(`${engine}: receivers that fail in every way get everything, in order, through kills, a stop and a restart`, {
    timeout: 300_000,
  }, async (t) => {
    const isSqlite = engine === 'SQLite';
    const database = isSqlite
      ? `sqlite:${join(temporaryFolder(t), 'a.db')}`
      : await newPostgresDatabase(t);
    const nodes = new Nodes(t, database);
    await nodes.start();
    for (let count = 1; count < (isSqlite ? 2 : 3); count += 1) await nodes.start();
    const receivers = await receiversOf(t, nodes);
    const gone = await endpoint(t, nodes, () => 410);
    const filtered = await endpoint(t, nodes, () => 204, { types: ['cancelled'], petIds: [1n] });
    const replica = await replicaEndpoint(t, nodes);
    const python = NEEDS_PYTHON === false ? await pythonEndpoint(t, nodes) : undefined;
    const writing = writeOrders(nodes);
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
      await pause(3_000);
      await nodes.end(await nodes.delivering(), signal);
      const ended = performance.now();
      const before = receivers.steady.received.length;
      await eventually(
        async () => assert.ok(receivers.steady.received.length > before),
        () => 'no node continues',
        TAKEN_OVER_MS,
      );
      t.diagnostic(`${signal}: continued after ${Math.round(performance.now() - ended)} ms`);
      await nodes.start();
    }
    const placed = await writing.stop();
    const { names, next } = await changesIn(nodes);
    t.diagnostic(`${placed} orders, ${names.length} changes`);
    const all = Object.entries(receivers);
    await eventually(
      async () => {
        for (const [name, { received }] of all) {
          // A delivery that was refused is repeated.
          const accepted = received.findLast(({ status }) => status >= 200 && status <= 299);
          assert.equal(accepted?.next, next, name);
        }
      },
      () => 'not everything has arrived',
      CAUGHT_UP_MS,
    );
    for (const [name, { received, mostAtOnce }] of all) {
      assert.deepEqual(assertChain(received), names, name);
      const repeated = received.length - new Set(received.map(({ id }) => id)).size;
      t.diagnostic(
        `${name}: ${received.length} deliveries, ${repeated} repetitions, ${mostAtOnce()} at once`,
      );
    }
    const changes = (await Array.fromAsync(pagesOf(nodes))).flat();
    const wanted = changes.filter(({ type, petId }) => type === 'cancelled' && petId === 1n);
    assert.deepEqual(
      assertChain(filtered.received),
      wanted.map(({ id }) => `cancelled ${id}`),
    );
    assert.equal(gone.received.length, 1);
    const orders = await ordersIn(nodes);
    await eventually(
      async () => {
        const copy = [...replica.orders.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
        assert.ok(exact(copy) === exact(orders), `${copy.length} of ${orders.length} orders`);
        if (python !== undefined) assert.equal(python.orders().length, orders.length);
      },
      () => 'the copies differ',
      CAUGHT_UP_MS,
    );
    for (const { record } of python?.orders() ?? []) {
      const { id, status } = JSON.parse(record);
      assert.equal(orders[id - 1]?.status, status);
    }
  });
}

async function* pagesOf(nodes: Nodes) {
  const client = nodes.client(nodes.running[0]!);
  for (let after = 'start'; ; ) {
    const page = await client.listChanges({ after, limit: 500 });
    yield page.changes.map(({ type, order: { id, petId } }) => ({ type, id, petId }));
    if (!page.more) return;
    after = page.next;
  }
}

test('after a restore, deliveries go on from where the backup was, and copies become those of the store', {
  timeout: 120_000,
}, async (t) => {
  const folder = temporaryFolder(t);
  const nodes = new Nodes(t, `sqlite:${join(folder, 'a.db')}`);
  await nodes.start();
  const steady = await endpoint(t, nodes, () => 204);
  const replica = await replicaEndpoint(t, nodes);
  const write = async (ms: number) => {
    const writing = writeOrders(nodes);
    await pause(ms);
    await writing.stop();
  };
  const arrived = () =>
    eventually(
      async () => {
        const { names, next } = await changesIn(nodes);
        assert.equal(steady.received.at(-1)?.next, next);
        assert.deepEqual(assertChain(steady.received, 1), names);
        const copy = [...replica.orders.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
        const orders = await ordersIn(nodes);
        assert.ok(exact(copy) === exact(orders), `${copy.length} of ${orders.length} orders`);
      },
      () => 'not everything has arrived',
      CAUGHT_UP_MS,
    );
  await write(2_000);
  await arrived();
  const backup = join(folder, 'backup.db');
  assert.equal((await nodes.command('backup', backup)).code, 0);
  await write(2_000);
  await arrived();
  await nodes.end(nodes.running[0]!, 'SIGTERM');
  const restored = await nodes.command('restore', backup);
  assert.equal(restored.code, 0, restored.stderr);
  await nodes.start();
  const gaps = replica.gaps();
  await write(2_000);
  await arrived();
  assert.ok(replica.gaps() > gaps);
});
