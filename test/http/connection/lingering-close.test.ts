import assert from 'node:assert/strict';
import { once } from 'node:events';
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
  const begun = performance.now();
  socket.write('answer');
  lingeringClose(socket, 300);
  await Promise.race([
    once(socket, 'close'),
    new Promise((_, reject) => setTimeout(reject, 5_000, new Error('it is still open')).unref()),
  ]);
  assert.equal(text, 'answer');
  assert.ok(performance.now() - begun > 250);
});
