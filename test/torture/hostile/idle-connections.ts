import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { MAX_CONNECTIONS } from '../../../src/http/limits.ts';
import { GoodClient, isWithinLimit, MOST_TIMES } from './meter.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

/** Of them, those beyond the service's limit are closed. */
const CONNECTIONS = MAX_CONNECTIONS;
const AT_ONCE = 200;
/** Those that are open at the same time: the first ones may be closed, after 10 s, before the last ones are opened. */
const FEWEST = 9_000;
const MEASURED_MS = 4_000;
const MOST_KIB = 24;
/** After the clients have gone. */
const CLOSED_WITHIN_MS = 5_000;
const HALF_A_REQUEST = 'GET /v1/store/orders HTTP/1.1\r\nHost: x\r\n';

/** All connections that the service accepts: half of them send nothing, half of them a part of a request. */
export const idleConnections: Attack = {
  name: `${CONNECTIONS} idle connections`,
  mustHold: `at most ${MOST_KIB} KiB of memory each; the 99th percentile of a good key, on its open connections, is at most ${MOST_TIMES} times that without them; all are closed afterwards`,
  make: async ({ folder }) => {
    const { server, secret } = await serveNew(folder, 100);
    const client = new GoodClient(server.port, secret);
    await client.p99(MEASURED_MS);
    const first = await client.p99(MEASURED_MS);
    const before = await server.usage();
    const sockets: Socket[] = [];
    while (sockets.length < CONNECTIONS) sockets.push(...(await openSome(server.port)));
    const during = await server.usage();
    const busy = await client.p99(MEASURED_MS);
    for (const socket of sockets) socket.destroy();
    const until = performance.now() + CLOSED_WITHIN_MS;
    let { sockets: left } = await server.usage();
    while (left > before.sockets && performance.now() < until) {
      await pause(100);
      ({ sockets: left } = await server.usage());
    }
    // The speed of the machine may have changed.
    const quiet = Math.max(first, await client.p99(MEASURED_MS));
    client.end();
    await server.stop();
    const open = during.sockets;
    const kib = (during.resident - before.resident) / open / 1024;
    const figures = `${open} were open, ${kib.toFixed(1)} KiB each; ${quiet.toFixed(1)} ms without, ${busy.toFixed(1)} ms with them; ${left - before.sockets} left afterwards`;
    const areClosed = left <= before.sockets;
    const isKept = kib <= MOST_KIB && isWithinLimit(busy, quiet) && areClosed;
    return { figures, isKept: isKept && open >= FEWEST };
  },
};

async function openSome(port: number): Promise<Socket[]> {
  const opened = await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, index) => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.on('error', () => {});
      if (index % 2 === 0) socket.write(HALF_A_REQUEST);
      return socket;
    }),
  );
  return opened;
}
