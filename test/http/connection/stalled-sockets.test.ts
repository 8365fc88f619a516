import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { closeStalled, openSockets } from '../../../src/http/connection/stalled-sockets.ts';

const PIECE = Buffer.alloc(64 * 1024, 'x');
const PIECES = 256;

/** Writes piece by piece, like the sender of lists. */
function sendAll(response: ServerResponse): void {
  let sent = 0;
  const write = () => {
    while (sent < PIECES) {
      sent += 1;
      if (!response.write(PIECE)) return;
    }
    response.end();
  };
  response.on('drain', write);
  write();
}

test('a client that reads nothing is disconnected even if it sends; a slow reader is not', async (t) => {
  const server = createServer((_request, response) => sendAll(response));
  const sockets = openSockets(server);
  const end = closeStalled(sockets, { limitMs: 1_000, intervalMs: 20 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.after(() => {
    end();
    server.closeAllConnections();
    server.close();
  });
  const ask = () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    return socket;
  };
  const idle = ask();
  idle.pause();
  const blank = setInterval(() => idle.write('\r\n'), 20);
  t.after(() => clearInterval(blank));
  const slow = ask();
  const readAll = async () => {
    let received = 0;
    // Fails if the connection is ended before.
    for await (const chunk of slow.iterator({ destroyOnReturn: false })) {
      received += chunk.length;
      if (received >= PIECES * PIECE.length) return;
      await setTimeout(2);
    }
  };
  // Its error can come before.
  const disconnected = new Promise((resolve) => idle.once('close', resolve));
  await Promise.all([readAll(), disconnected]);
  assert.equal(sockets.size, 1);
  slow.destroy();
});

test('only connections with pending output and no progress are stalled', async (t) => {
  let looks = 0;
  const destroyed: string[] = [];
  const socket = (name: string, writableLength: number, bytesWritten: () => number) =>
    ({
      writableLength,
      get bytesWritten() {
        return bytesWritten();
      },
      destroy: () => destroyed.push(name),
    }) as unknown as Socket;
  const sockets = new Set([
    socket('moving', 9, () => looks++),
    socket('idle', 0, () => 100),
    socket('stalled', 9, () => 100),
  ]);
  t.after(closeStalled(sockets, { limitMs: 60, intervalMs: 10 }));
  while (looks < 20 || destroyed.length === 0) {
    await setTimeout(10);
  }
  assert.deepEqual(new Set(destroyed), new Set(['stalled']));
});
