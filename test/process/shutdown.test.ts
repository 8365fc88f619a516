import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { serve } from './program.ts';
import { sampleStore, withList } from './sample-store.ts';

const ORDERS = '/v1/store/orders';

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} completes responses under way, refuses new connections and exits with 0`, async (t) => {
    const serving = await serve(t, [], { database: await sampleStore(t) });
    const { secret, port, stop, operations } = await withList(serving);
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${ORDERS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n\r\n`);
    await once(socket, 'readable');
    const stopped = stop(signal);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), 'no new connection');
    assert.equal((await fetch(`${operations}/readyz`)).status, 503);
    let length = 0;
    for await (const chunk of socket) length += chunk.length;
    assert.ok(length > 9_000_000, `${length} bytes of the list`);
    assert.equal(await stopped, 0);
  });
}

test('if readiness is probed, the service reports not ready and keeps serving before it stops', async (t) => {
  const { operations, call, stop, port } = await serve(t, ['--drain-seconds', '2']);
  const ready = async () => (await fetch(`${operations}/readyz`)).status;
  assert.equal(await ready(), 200);
  const stopped = stop();
  while ((await ready()) === 200) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(await ready(), 503);
  assert.equal((await fetch(`${operations}/livez`)).status, 200);
  assert.equal((await call('GET', ORDERS)).status, 200);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
  assert.equal(await stopped, 0);
});

test('a client that does not read cannot prevent shutdown: --stop-limit-seconds limits it, and the exit code is 1', async (t) => {
  const withReader = async (args: readonly string[]) => {
    const serving = await serve(t, args, { database: await sampleStore(t) });
    const { secret, port, stop } = await withList(serving);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    socket.write(`GET ${ORDERS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n\r\n`);
    await once(socket, 'readable');
    socket.pause();
    return stop;
  };
  const [longer, shorter] = await Promise.all([
    withReader(['--stop-limit-seconds', '4']),
    withReader(['--stop-limit-seconds', '1']),
  ]);
  const ended: string[] = [];
  await Promise.all([
    longer().then((code) => ended.push(`longer, exit ${code}`)),
    shorter().then((code) => ended.push(`shorter, exit ${code}`)),
  ]);
  assert.deepEqual(ended, ['shorter, exit 1', 'longer, exit 1']);
});

test('incomplete requests do not delay shutdown, which exits with 0', async (t) => {
  const { port, operations, secret, stop } = await serve(t);
  const sendIncomplete = (to: number, bytes: string) => {
    const socket = connect(to, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(bytes);
    t.after(() => socket.destroy());
  };
  sendIncomplete(port, 'GET /v1/store');
  sendIncomplete(Number(new URL(operations).port), 'GET /livez HT');
  const head = `DELETE ${ORDERS}/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n`;
  sendIncomplete(port, `${head}Content-Length: 10\r\n\r\nabc`);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(await stop(), 0);
});
