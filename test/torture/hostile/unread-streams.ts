import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { MAX_STREAMS_PER_KEY } from '../../../src/http/limits.ts';
import { send } from '../http.ts';
import { prepared } from '../power-cuts/scenario.ts';
import { buildShim } from '../shim/build.ts';
import { GoodClient, isWithinLimit, MOST_TIMES } from './meter.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

const STREAMS = 500;
const ORDERS = 20_000;
/** Orders of a request. */
const AT_ONCE = 1_000;
const MEASURED_MS = 3_000;
const MOST_MIB = 300;
const LIMIT_MS = 30_000;

/** Bytes that the system buffers for a connection: otherwise it would hold all changes for the process. */
const SEND_BUFFER = '4096';

/** Streams of changes whose clients read nothing, while all orders are cancelled. */
export const unreadStreams: Attack = {
  name: `${STREAMS} streams of changes that read nothing, while ${ORDERS} orders are cancelled`,
  mustHold: `a key has ${MAX_STREAMS_PER_KEY} of them at most; the process grows by at most ${MOST_MIB} MiB; the 99th percentile of a good key is at most ${MOST_TIMES} times that without them`,
  make: async ({ folder }) => {
    const shim = buildShim(folder);
    const env: Record<string, string> =
      'path' in shim ? { LD_PRELOAD: shim.path, TORTURE_SEND_BUFFER: SEND_BUFFER } : {};
    const { server, secret, database } = await serveNew(folder, ORDERS, env);
    const client = new GoodClient(server.port, secret);
    await client.p99(MEASURED_MS);
    const first = await client.p99(MEASURED_MS);
    const before = await server.usage();
    const sockets: Socket[] = [];
    /** The answers to one stream more for each key. */
    const excess = new Set<string>();
    for (let key = 0; key < STREAMS / MAX_STREAMS_PER_KEY; key += 1) {
      const own = await prepared([
        'keys',
        'create',
        '--name',
        `streams ${key}`,
        '--database',
        database,
      ]);
      for (let count = 0; count < MAX_STREAMS_PER_KEY; count += 1) {
        const { status, socket } = await openStream(server.port, own);
        if (status !== '200') throw new Error(`a stream was answered ${status}`);
        sockets.push(socket);
      }
      const { status, socket } = await openStream(server.port, own);
      excess.add(status);
      socket.destroy();
    }
    const agent = new Agent({ keepAlive: true });
    for (let first = 1; first <= ORDERS; first += AT_ONCE) {
      const orders = Array.from({ length: AT_ONCE }, (_, index) => `{"id":${first + index}}`);
      const { status } = await send(
        { port: server.port, agent, limitMs: LIMIT_MS },
        {
          ...{ method: 'POST', path: '/v2/store/cancellations', secret },
          body: `{"orders":[${orders.join(',')}]}`,
        },
      );
      if (status !== 200) throw new Error(`cancels were answered ${status}`);
    }
    const busy = await client.p99(MEASURED_MS);
    const during = await server.usage();
    for (const socket of sockets) socket.destroy();
    // The speed of the machine may have changed.
    const quiet = Math.max(first, await client.p99(MEASURED_MS));
    client.end();
    agent.destroy();
    await server.stop();
    const mib = (during.resident - before.resident) / 2 ** 20;
    const buffers = 'reason' in shim ? ` (with the system's buffers: ${shim.reason})` : '';
    const figures = `one more is ${[...excess].join(' or ')}; ${mib.toFixed(0)} MiB${buffers}; ${quiet.toFixed(1)} ms without, ${busy.toFixed(1)} ms with them`;
    const isKept = !excess.has('200') && mib <= MOST_MIB && isWithinLimit(busy, quiet);
    return { figures, isKept };
  },
};

/** Opens a stream, and reads nothing after the head of its response. */
async function openStream(
  port: number,
  secret: string,
): Promise<{ readonly status: string; readonly socket: Socket }> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `GET /v2/store/changes/stream?after=now HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
  );
  const [head] = await once(socket, 'data');
  socket.pause();
  return { status: String(head).slice(9, 12), socket };
}
