import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

/** What a connection begins with, without a key; after it, a byte follows now and then, whatever is answered. */
const BEGINNINGS = [
  'no request at all\r\n\r\n',
  'GET /v1/store/orders HTTP/1.1\r\nHost: x\r\nX-Endless: ',
  'GET /v1/store/orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  'POST /v2/store/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n',
  'POST /v2/store/orders HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
  // A page that needs no key.
  'GET /reference HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n',
];
const OF_EACH = 50;
const BYTE_EVERY_MS = 300;
/** A request may take 30 s to arrive, which is checked every 2 s, and the refusal may be read for 5 s. */
const CLOSED_WITHIN_MS = 40_000;

/** Connections without a key whose clients go on sending bytes, and do not close their side. */
export const endlessInput: Attack = {
  name: `${BEGINNINGS.length * OF_EACH} connections without a key that go on sending bytes`,
  mustHold: `all are closed within ${CLOSED_WITHIN_MS / 1_000} s, also after a refusal or a last response`,
  make: async ({ folder }) => {
    const { server } = await serveNew(folder, 10);
    const before = await server.usage();
    const sockets: Socket[] = [];
    for (const beginning of BEGINNINGS) {
      for (let each = 0; each < OF_EACH; each += 1) {
        const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
        socket.on('error', () => {}).resume();
        await once(socket, 'connect');
        socket.write(beginning);
        sockets.push(socket);
      }
    }
    const began = performance.now();
    let left = sockets.length;
    while (left > 0 && performance.now() - began < CLOSED_WITHIN_MS) {
      await pause(BYTE_EVERY_MS);
      for (const socket of sockets) if (!socket.destroyed) socket.write('0');
      left = (await server.usage()).sockets - before.sockets;
    }
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    for (const socket of sockets) socket.destroy();
    await server.stop();
    return { figures: `${left} were left after ${seconds} s`, isKept: left <= 0 };
  },
};
