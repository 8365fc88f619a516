import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { connections, received, requestsOf, statuses } from '../http/connection/raw-connection.ts';
import { eventually } from '../postgres.ts';
import { serve } from './program.ts';

const ORDERS = '/v1/store/orders';

test('a connection that sends its first request when SIGTERM arrives gets its response', async (t) => {
  const service = await serve(t, ['--sample', '10']);
  const sockets = Array.from({ length: 20 }, () => connect(service.port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  // This connection is accepted after the ones above.
  assert.equal((await service.call('GET', ORDERS, { connection: 'close' })).status, 200);
  const exited = once(service.child, 'exit');
  service.child.kill('SIGTERM');
  for (const socket of sockets) socket.write(requestsOf(service)('GET', ORDERS));
  const answers = await Promise.all(sockets.map(received));
  assert.deepEqual(answers.flatMap(statuses), Array(20).fill(200));
  assert.deepEqual(await exited, [0, null]);
});

test('a low limit of open files limits the connections, and the service keeps answering', async (t) => {
  // 64 files are for the process, 32 for the admin listener.
  const wrapper = ['sh', '-c', 'ulimit -n 116 && exec "$0" "$@"'];
  const service = await serve(t, ['--sample', '10'], { wrapper });
  assert.match(service.stdout(), /the open file limit allows 20 connections/);
  const { sockets, closed } = connections(service.port, 25);
  await eventually(async () => assert.equal(closed.size, 5));
  const open = sockets.find((socket) => !closed.has(socket))!;
  open.write(requestsOf(service)('GET', ORDERS, 'Connection: close\r\n'));
  assert.deepEqual(statuses(await received(open)), [200]);
  assert.equal((await fetch(`${service.operations}/readyz`)).status, 200);
  for (const socket of sockets) socket.destroy();
});

test('a second signal ends the process at once', async (t) => {
  const service = await serve(t, ['--sample', '10']);
  // A request that is still being sent would delay a graceful shutdown by two seconds.
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: ');
  await once(socket, 'connect');
  assert.equal((await service.call('GET', ORDERS)).status, 200);
  service.child.kill('SIGTERM');
  await eventually(async () => assert.match(service.stdout(), /"msg":"stopping"/));
  assert.equal(await service.stop(), 1);
  assert.match(service.stdout(), /stopped at once by a second signal/);
});

test('a lenient parser in NODE_OPTIONS lets no request be smuggled', async (t) => {
  const env = { NODE_OPTIONS: '--insecure-http-parser' };
  const service = await serve(t, ['--sample', '3'], { env });
  const key = `Host: a\r\nAuthorization: Bearer ${service.secret}\r\n`;
  const smuggled = `DELETE ${ORDERS}/1 HTTP/1.1\r\n${key}\r\n`;
  const chunk = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
  for (const framing of [
    `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `Transfer-Encoding: chunked\r\nContent-Length: ${chunk.length}\r\n\r\n${chunk}${smuggled}`,
    `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${smuggled}`,
    `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    `X: a\rb\r\n\r\n${smuggled}`,
    `Content-Length: 0\n\n${smuggled}`,
  ]) {
    const answers = await service.raw(`GET ${ORDERS} HTTP/1.1\r\n${key}${framing}`);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [400],
      framing,
    );
  }
  assert.equal(JSON.parse((await service.call('GET', ORDERS)).body).length, 3);
});
