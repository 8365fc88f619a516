import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Running, run, serve } from '../process/program.ts';
import { ENGINES } from '../store/engines.ts';

const ORDERS = '/v1/store/orders';
const PROCESSES = 3;
const CLIENTS = 6;
const CANCELS = 300;

/** Starts processes that share one port, each with its own admin port. */
async function serveTogether(t: TestContext, database: string) {
  const first = await serve(t, ['--reuse-port', '--sample', '500'], { database });
  const port = ['--port', String(first.port)];
  const processes = [first];
  for (let count = 1; count < PROCESSES; count += 1) {
    processes.push(await serve(t, ['--reuse-port', ...port], { database, expectsKey: false }));
  }
  /** Sends a request on a new connection, which the kernel assigns to any of the processes. */
  const call = (method: string, path: string) => first.call(method, path, { connection: 'close' });
  return { processes, call };
}

async function requestsOf({ operations }: Running): Promise<number> {
  const text = await (await fetch(`${operations}/metrics`)).text();
  const counts = text.matchAll(/^store_orders_http_requests_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: processes that share a port all serve requests, and none returns a stale list`, async (t) => {
    const { processes, call } = await serveTogether(t, await newDatabase(t));
    const cancelled = new Set<number>();
    let next = 0;
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (next < CANCELS) {
          next += 1;
          const id = next;
          if ((await call('DELETE', `${ORDERS}/${id}`)).status === 204) cancelled.add(id);
          const known = [...cancelled];
          const { body } = await call('GET', ORDERS);
          const stale = known.filter((each) => body.includes(`"id":${each},`));
          assert.deepEqual(stale, []);
        }
      }),
    );
    for (const each of processes)
      assert.ok((await requestsOf(each)) > 0, 'every process had requests');
    // Without the option the port is in use.
    const [first] = processes;
    const taken = await run([
      ...['serve', '--port', String(first!.port), '--operations-port', '0'],
      ...['--database', first!.database],
    ]);
    assert.equal(taken.code, 1);
    assert.match(taken.stderr, /EADDRINUSE/);
  });
}

test('if one of the processes that share a port is killed, the others keep serving', async (t) => {
  const { processes, call } = await serveTogether(t, await ENGINES[0]!.newDatabase(t));
  await processes[1]!.stop('SIGKILL');
  for (let round = 0; round < 30; round += 1) {
    assert.equal((await call('GET', ORDERS)).status, 200);
  }
});
