import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, eventually, freePort } from '../postgres.ts';
import { PROGRAM, run } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

const ORDERS = '/v1/store/orders';
const NODES = 3;
const ROUNDS = 2;
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

  async start(): Promise<void> {
    const ports = ['--port', String(this.port), '--operations-port', String(this.operationsPort)];
    const args = ['serve', ...ports, '--database', this.#database, '--no-first-key'];
    this.#child = spawn(process.execPath, [PROGRAM, ...args], { stdio: 'ignore' });
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

/** A configuration of docs/proxies, with its hosts and paths replaced by local ones. */
function configuration(name: string, nodes: readonly Node[], replaced: Record<string, string>) {
  let text = readFileSync(new URL(`../../docs/proxies/${name}`, import.meta.url), 'utf8');
  const replace = (from: string, to: string) => {
    assert.ok(text.includes(from), `${name} does not contain ${from}`);
    text = text.replaceAll(from, to);
  };
  for (const [from, to] of Object.entries(replaced)) replace(from, to);
  for (const [index, node] of nodes.entries()) {
    const address = `127.0.0.1:${node.port}`;
    // All nodes are on one host here, so each has its own port for health checks.
    const port = name === 'haproxy.cfg' ? ` port ${node.operationsPort}` : '';
    replace(`10.0.0.${index + 1}:8080`, address + port);
  }
  return text;
}

/** Runs an installed proxy until the test ends. @returns its port */
async function startProxy(
  t: TestContext,
  name: 'haproxy' | 'nginx',
  nodes: readonly Node[],
): Promise<number> {
  const folder = temporaryFolder(t);
  const port = await freePort();
  const tls = (file: string) => readFileSync(new URL(`../tls/${file}`, import.meta.url), 'utf8');
  for (const file of ['server.crt', 'server.key']) writeFileSync(join(folder, file), tls(file));
  writeFileSync(join(folder, 'api.pem'), tls('server.crt') + tls('server.key'));
  mkdirSync(join(folder, 'logs'));
  const config = join(folder, 'config');
  if (name === 'haproxy') {
    const replaced = {
      'bind :443': `bind 127.0.0.1:${port}`,
      '/etc/haproxy/api.pem': join(folder, 'api.pem'),
    };
    writeFileSync(config, configuration('haproxy.cfg', nodes, replaced));
  } else {
    const replaced = {
      'listen 443': `listen 127.0.0.1:${port}`,
      '/etc/nginx/api.crt': join(folder, 'server.crt'),
      '/etc/nginx/api.key': join(folder, 'server.key'),
    };
    const pid = `pid ${join(folder, 'pid')}; daemon off; error_log ${join(folder, 'logs/error.log')};\n`;
    writeFileSync(config, pid + configuration('nginx.conf', nodes, replaced));
  }
  const args = name === 'haproxy' ? ['-f', config] : ['-p', folder, '-c', config];
  const proxy = spawn(name, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  proxy.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  proxy.on('error', () =>
    assert.fail(`this test needs ${name}: install it from the system's packages`),
  );
  const exited = once(proxy, 'exit');
  t.after(async () => {
    proxy.kill(name === 'haproxy' ? 'SIGUSR1' : 'SIGTERM');
    setTimeout(() => proxy.kill('SIGKILL'), 2_000).unref();
    await exited;
  });
  await eventually(
    async () => assert.equal((await ask(port, new Agent(), 'GET', '/openapi/v1.json')).status, 200),
    () => stderr,
  );
  return port;
}

/** Sends one request through a proxy and reads the whole response. */
async function ask(
  port: number,
  agent: Agent,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const where = { host: '127.0.0.1', port, method, path, agent, rejectUnauthorized: false };
  const sent = request({ ...where, headers });
  sent.end();
  const [response] = await once(sent, 'response');
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  return { status: response.statusCode as number, bytes };
}

test('no request fails while three nodes behind HAProxy and nginx are restarted one by one', async (t) => {
  const cluster = await Cluster.start({ max_connections: '60' });
  t.after(() => cluster.remove());
  const database = cluster.url();
  const { stdout: input } = await run(['sample', String(COUNT)]);
  await run(['import', '-', '--database', database], { input });
  const made = await run(['keys', 'create', '--name', 'x', '--database', database]);
  const headers = { authorization: `Bearer ${made.stdout.trim()}` };
  const nodes: Node[] = [];
  for (let index = 0; index < NODES; index += 1) {
    nodes.push(new Node(await freePort(), await freePort(), database));
  }
  t.after(() => {
    for (const node of nodes) node.kill();
  });
  await Promise.all(nodes.map((node) => node.start()));

  const ports = {
    haproxy: await startProxy(t, 'haproxy', nodes),
    nginx: await startProxy(t, 'nginx', nodes),
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
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const node of nodes) {
      await node.stop();
      await node.start();
      // HAProxy finds it ready at its next health check.
      await pause(2_500);
    }
  }
  isOver = true;
  await Promise.all(clients);
  t.diagnostic([...counts].map(([what, count]) => `${what}: ${count}`).join(', '));
  assert.deepEqual(failures, []);
  assert.ok(id > 1_000, 'there was load');
});
