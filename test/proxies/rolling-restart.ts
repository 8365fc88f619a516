import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { earlierBuild, LAST_BETA } from '../earlier-build.ts';
import { Cluster, eventually, freePort } from '../postgres.ts';
import { PROGRAM, run } from '../process/program.ts';
import { ask, startProxy } from './proxies.ts';

const ORDERS = '/v1/store/orders';
const NODES = 3;
const CLIENTS = 6;
const COUNT = 200_000;

/** A node that can be restarted on the same ports. */
class Node {
  readonly port: number;
  readonly operationsPort: number;
  readonly #database: string;
  #child: ChildProcess | undefined;

  constructor(port: number, operationsPort: number, database: string) {
    this.port = port;
    this.operationsPort = operationsPort;
    this.#database = database;
  }

  /** @param program the path of the program, of this release or an earlier one */
  async start(program: string): Promise<void> {
    const ports = ['--port', String(this.port), '--operations-port', String(this.operationsPort)];
    const args = ['serve', ...ports, '--database', this.#database, '--no-first-key'];
    this.#child = spawn(process.execPath, [program, ...args], { stdio: 'ignore' });
    await eventually(async () => {
      const { status } = await fetch(`http://127.0.0.1:${this.operationsPort}/readyz`);
      assert.equal(status, 200);
    });
  }

  async stop(): Promise<void> {
    const exited = once(this.#child!, 'exit');
    this.#child!.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null], 'every request was answered');
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }
}

/** Starts three nodes with the first program, and restarts them one by one with each of the others, under load through both proxies. */
async function restartAll(
  t: TestContext,
  [first, ...others]: readonly [string, ...string[]],
): Promise<void> {
  const options = { program: [process.execPath, first] as const };
  const cluster = await Cluster.start({ max_connections: '60' });
  t.after(() => cluster.remove());
  const database = cluster.url();
  const { stdout: input } = await run(['sample', String(COUNT)]);
  await run(['import', '-', '--database', database], { ...options, input });
  const made = await run(['keys', 'create', '--name', 'x', '--database', database], options);
  const headers = { authorization: `Bearer ${made.stdout.trim()}` };
  const nodes: Node[] = [];
  for (let index = 0; index < NODES; index += 1) {
    nodes.push(new Node(await freePort(), await freePort(), database));
  }
  t.after(() => {
    for (const node of nodes) node.kill();
  });
  await Promise.all(nodes.map((node) => node.start(first)));
  // The first list of each node, which is 503 if reading it takes longer than a response may.
  for (const { port } of nodes) {
    await eventually(async () => {
      const { status } = await fetch(`http://127.0.0.1:${port}${ORDERS}`, { headers });
      assert.equal(status, 200);
    });
  }

  const ports = {
    haproxy: (await startProxy(t, 'haproxy', nodes)).port,
    nginx: (await startProxy(t, 'nginx', nodes)).port,
  };
  let isOver = false;
  let id = 0;
  const counts = new Map<string, number>();
  const failures: string[] = [];
  const client = async (name: keyof typeof ports) => {
    const agent = new Agent({ keepAlive: true });
    while (!isOver) {
      id += 1;
      const [method, path, expected] =
        id % 50 === 0
          ? (['GET', ORDERS, [200]] as const)
          : (['DELETE', `${ORDERS}/${id}`, [204, 409]] as const);
      const { status } = await ask(ports[name], agent, method, path, headers).catch(
        (error: Error) => ({ status: error.message }),
      );
      const what = `${name} ${method} ${status}`;
      counts.set(what, (counts.get(what) ?? 0) + 1);
      if (!(expected as readonly unknown[]).includes(status)) failures.push(`${what} ${path}`);
      await pause(10);
    }
    agent.destroy();
  };
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    client(index % 2 === 0 ? 'haproxy' : 'nginx'),
  );
  await pause(2_000);
  for (const program of others) {
    for (const node of nodes) {
      await node.stop();
      await node.start(program);
      // HAProxy finds it ready at its next health check.
      await pause(2_500);
    }
  }
  isOver = true;
  await Promise.all(clients);
  t.diagnostic([...counts].map(([what, count]) => `${what}: ${count}`).join(', '));
  assert.deepEqual(failures, []);
  assert.ok(id > 1_000, 'there was load');
}

test('no request fails while three nodes behind HAProxy and nginx are restarted one by one', async (t) => {
  await restartAll(t, [PROGRAM, PROGRAM, PROGRAM]);
});

test('no request fails while three nodes of the last beta behind HAProxy and nginx are upgraded one by one', async (t) => {
  const old = earlierBuild(t, LAST_BETA);
  if (old !== undefined) await restartAll(t, [old.program[1], PROGRAM]);
});
