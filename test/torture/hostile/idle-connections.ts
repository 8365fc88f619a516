import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { p99 } from './meter.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

const CONNECTIONS = 9_900;
const AT_ONCE = 200;
const MEASURED_MS = 4_000;
const MOST_KIB = 24;
const MOST = 3;
/** After the clients have gone. */
const CLOSED_WITHIN_MS = 5_000;

/** Connections that send half of a request, as many as the service accepts but for some. */
export const idleConnections: Attack = {
  name: `${CONNECTIONS} connections that send half of a request`,
  mustHold: `at most ${MOST_KIB} KiB of memory each; the 99th percentile of a good key is at most ${MOST} times that without them; all are closed afterwards`,
  make: async ({ folder }) => {
    const { server, secret } = await serveNew(folder, 100);
    await p99(server.port, secret, MEASURED_MS);
    const quiet = await p99(server.port, secret, MEASURED_MS);
    const before = await server.usage();
    const sockets: Socket[] = [];
    while (sockets.length < CONNECTIONS) {
      const some = Array.from({ length: AT_ONCE }, () => {
        const socket = connect(server.port, '127.0.0.1');
        socket.on('error', () => {});
        return socket;
      });
      await Promise.all(some.map((socket) => once(socket, 'connect')));
      for (const socket of some) socket.write('GET /v1/store/orders HTTP/1.1\r\nHost: x\r\n');
      sockets.push(...some);
    }
    const during = await server.usage();
    const busy = await p99(server.port, secret, MEASURED_MS);
    for (const socket of sockets) socket.destroy();
    let { sockets: left } = await server.usage();
    for (
      const until = performance.now() + CLOSED_WITHIN_MS;
      left > 0 && performance.now() < until;
    ) {
      await pause(100);
      ({ sockets: left } = await server.usage());
    }
    await server.stop();
    const kib = (during.resident - before.resident) / CONNECTIONS / 1024;
    const open = during.sockets;
    const figures = `${open} were open, ${kib.toFixed(1)} KiB each; ${quiet.toFixed(1)} ms without, ${busy.toFixed(1)} ms with them; ${left} left afterwards`;
    return {
      figures,
      isKept:
        open >= CONNECTIONS && kib <= MOST_KIB && busy <= MOST * Math.max(quiet, 1) && left === 0,
    };
  },
};
