import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { Pipelining } from '../../../src/http/connection/pipelining.ts';
import { MAX_PIPELINED } from '../../../src/http/limits.ts';

test('exactly MAX_PIPELINED requests may wait; one more destroys the connection', async (t) => {
  const turns = new Pipelining();
  const arrived: boolean[] = [];
  const server = createServer(({ socket }, response) => {
    turns.take(socket, response, () => {});
    arrived.push(socket.destroyed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  // One begins, the others wait.
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1 + MAX_PIPELINED + 1));
  await once(socket, 'close');
  assert.equal(arrived.length, 1 + MAX_PIPELINED + 1);
  assert.deepEqual([arrived.at(-2), arrived.at(-1)], [false, true]);
});
