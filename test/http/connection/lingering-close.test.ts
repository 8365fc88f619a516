import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { lingeringClose } from '../../../src/http/connection/lingering-close.ts';

test('a client that does not close its side is disconnected after the linger time', async (t) => {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const sending = setInterval(() => client.write('more'), 10);
  t.after(() => {
    clearInterval(sending);
    client.destroy();
    socket.destroy();
  });
  let text = '';
  client.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  socket.write('answer');
  lingeringClose(socket, 100);
  // The client has the answer before it is disconnected.
  await once(client, 'end');
  assert.equal(socket.destroyed, false);
  await once(socket, 'close');
  assert.equal(text, 'answer');
});

test('a connection whose requests are no longer read is closed as soon as its client closes it', async (t) => {
  const server = createHttpServer((request) => {
    // As after input that is not a request: Node's parser has stopped reading.
    request.socket.pause();
    lingeringClose(request.socket);
  }).listen(0, '127.0.0.1');
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  await once(server, 'listening');
  t.after(() => server.close());
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.resume();
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [socket] = (await once(server, 'connection')) as [Socket];
  let hasEnded = false;
  socket.on('end', () => {
    hasEnded = true;
  });
  await once(socket, 'close');
  assert.ok(hasEnded, 'the connection was closed by the time limit');
});
