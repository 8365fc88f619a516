import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../postgres.ts';
import { ENGINES } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';
import { type Running, run, serve, started } from './program.ts';

const ORDERS = '/v1/store/orders';
const CLIENTS = 8;
const CANCELS = 400;

/** Two workers that both serve; the process ids of them. */
async function serveWithTwo(t: TestContext, args: readonly string[] = [], database?: string) {
  const running = await serve(t, ['--workers', '2', ...args], {
    ...(database !== undefined && { database }),
  });
  await eventually(async () => assert.ok(workersOf(running).length === 2));
  return running;
}

function workersOf({ stdout }: Running): number[] {
  const lines = [...stdout().matchAll(/"pid":(\d+),[^\n]*"msg":"a worker is serving"/g)];
  return lines.map(([, pid]) => Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Asks on a connection of its own, so that the workers take turns. */
function callAnew({ call }: Running, method: string, path: string) {
  return call(method, path, { connection: 'close' });
}

for (const { name, newDatabase } of ENGINES) {
  test(`what one worker acknowledges the others show at once (${name})`, async (t) => {
    const running = await serveWithTwo(t, ['--sample', '1000'], await newDatabase(t));
    const ids = JSON.parse((await callAnew(running, 'GET', ORDERS)).body).map(
      ({ id }: { id: number }) => id,
    );
    const cancelled = new Set<number>();
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (cancelled.size < CANCELS && ids.length > 0) {
          const id = ids.pop()!;
          const { status } = await callAnew(running, 'DELETE', `${ORDERS}/${id}`);
          if (status === 204) cancelled.add(id);
          const known = [...cancelled];
          const list = (await callAnew(running, 'GET', ORDERS)).body;
          const stale = known.filter((each) => list.includes(`"id":${each},`));
          assert.deepEqual(stale, []);
        }
      }),
    );
    const asked = new Set(
      [...running.stdout().matchAll(/"worker":(\d+),[^\n]*"msg":"request"/g)].map(([, id]) => id),
    );
    assert.equal(asked.size, 2, 'both workers had requests');
    const metrics = await (await fetch(`${running.operations}/metrics`)).text();
    assert.match(
      metrics,
      new RegExp(`requests_total{operation="cancelOrder",status="204"} ${cancelled.size}\n`),
    );
    assert.match(metrics, new RegExp(`orders{status="cancelled"} ${cancelled.size}\n`));
    assert.equal(await running.stop(), 0);
    const lines = running.stdout().trim().split('\n');
    for (const line of lines) assert.ok(JSON.parse(line), 'the log is whole lines');
  });
}

test('a worker that ends is replaced, and the others serve meanwhile', async (t) => {
  const running = await serveWithTwo(t);
  const [first] = workersOf(running);
  process.kill(first!, 'SIGKILL');
  await eventually(async () =>
    assert.ok(/"signal":"SIGKILL","msg":"a worker has ended"/.test(running.stdout())),
  );
  assert.equal((await callAnew(running, 'GET', ORDERS)).status, 200);
  assert.equal((await fetch(`${running.operations}/readyz`)).status, 200);
  await eventually(async () => assert.ok(workersOf(running).length === 3));
  assert.equal(await running.stop(), 0);
});

test('what workers have counted is counted still when they have ended', async (t) => {
  const running = await serveWithTwo(t);
  const counted = async () => {
    const metrics = await (await fetch(`${running.operations}/metrics`)).text();
    return Number(/requests_total{operation="listOrders",status="200"} (\d+)/.exec(metrics)?.[1]);
  };
  for (let call = 0; call < 40; call += 1) await callAnew(running, 'GET', ORDERS);
  assert.equal(await counted(), 40);
  const [first, second] = workersOf(running);
  process.kill(first!, 'SIGKILL');
  await eventually(async () => assert.ok(workersOf(running).length === 3));
  process.kill(second!, 'SIGKILL');
  await eventually(async () => assert.ok(workersOf(running).length === 4));
  await callAnew(running, 'GET', ORDERS);
  assert.equal(await counted(), 41);
});

test('a worker that is held up is not ready, and the others are counted', async (t) => {
  const running = await serveWithTwo(t);
  const [first] = workersOf(running);
  process.kill(first!, 'SIGSTOP');
  assert.equal((await fetch(`${running.operations}/readyz`)).status, 503);
  assert.equal((await fetch(`${running.operations}/metrics`)).status, 200);
  process.kill(first!, 'SIGCONT');
  await eventually(async () => assert.ok((await fetch(`${running.operations}/readyz`)).ok));
});

test('a worker that finds another file in place of the database does not serve it', async (t) => {
  const running = await serveWithTwo(t, ['--sample', '10']);
  const path = running.database.slice('sqlite:'.length);
  renameSync(path, `${path}.old`);
  copyFileSync(`${path}.old`, path);
  process.kill(workersOf(running)[0]!, 'SIGKILL');
  await eventually(async () => assert.ok(/another file than the one/.test(running.stderr())));
  assert.equal(workersOf(running).length, 2);
});

for (const delay of [150, 250, 350, 450]) {
  test(`SIGTERM ${delay} ms after the start ends all without complaint`, async (t) => {
    const database = `sqlite:${join(temporaryFolder(t), 'a.db')}`;
    const child = started(t, [
      ...['serve', '--workers', '2', '--database', database],
      ...['--port', '0', '--operations-port', '0'],
    ]);
    const said: Buffer[] = [];
    child.stderr!.on('data', (chunk) => said.push(chunk));
    await sleep(delay);
    child.kill('SIGTERM');
    const [code, signal] = await once(child, 'close');
    // Before it listens for signals it ends as any program does.
    assert.ok(code === 0 || signal === 'SIGTERM', `${code} ${signal}`);
    assert.doesNotMatch(String(Buffer.concat(said)), /Error|could not/);
  });
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} to all processes at once: each ends in good order, exit 0`, async (t) => {
    const running = await serveWithTwo(t);
    const workers = workersOf(running);
    for (const pid of workers) process.kill(pid, signal);
    assert.equal(await running.stop(signal), 0);
    assert.deepEqual(workers.filter(isRunning), []);
  });
}

test('workers do not outlive a primary that was killed', async (t) => {
  const running = await serveWithTwo(t);
  const workers = workersOf(running);
  running.child.kill('SIGKILL');
  await once(running.child, 'close');
  await eventually(async () => assert.ok(!workers.some(isRunning)));
});

test('where the first worker cannot serve it says why, once, and the whole ends: exit 1', async (t) => {
  const { port } = await serve(t);
  const database = `sqlite:${join(temporaryFolder(t), 'a.db')}`;
  const ports = ['--port', String(port), '--operations-port', '0'];
  const { code, stderr } = await run(['serve', '--workers', '2', ...ports, '--database', database]);
  assert.equal(code, 1);
  assert.equal(stderr.match(/EADDRINUSE/g)?.length, 1);
});
