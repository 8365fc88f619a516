import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { MAX_STREAMS_PER_KEY } from '../../../src/http/limits.ts';
import { succeed } from '../command.ts';
import { send } from '../http.ts';
import { buildShim } from '../shim/build.ts';
import { GoodClient, isWithinLimit, MOST_TIMES } from './meter.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

/** With some 300 KiB for each, less than MAX_STREAMS_BACKLOG_BYTES: beyond it, streams end before their key does. */
const STREAMS = 400;
const ORDERS = 20_000;
/** Orders of a request. */
const AT_ONCE = 1_000;
const MEASURED_MS = 3_000;
/** Streams that each key opens beyond those that it may have. */
const EXCESS = 20;
const STOPPED_WITHIN_S = 5;
/** After a key was revoked; a client that reads nothing has some time more to read the rest. */
const ENDED_WITHIN_MS = 3_000;
const MOST_MIB = 300;
const LIMIT_MS = 30_000;

/** Bytes that the system buffers for a connection: otherwise it would hold all changes for the process. */
const SEND_BUFFER = '4096';

/** Streams of changes whose clients read nothing, while all orders are cancelled. */
export const unreadStreams: Attack = {
  name: `${STREAMS} streams of changes that read nothing, while ${ORDERS} orders are cancelled`,
  mustHold:
    `a key has ${MAX_STREAMS_PER_KEY} of them at most; the process grows by at most ${MOST_MIB} MiB; the 99th percentile of a good key is at most ${MOST_TIMES} times that without them; ` +
    `they end with their key, and within ${STOPPED_WITHIN_S} s when the service is stopped`,
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
    /** The streams that each key has, of those that it has opened at the same time. */
    const open: number[] = [];
    const ids: string[] = [];
    for (let key = 0; key < STREAMS / MAX_STREAMS_PER_KEY; key += 1) {
      const name = `streams ${key}`;
      const args = ['keys', 'create', '--json', '--name', name, '--database', database];
      const { id, secret: own } = JSON.parse(await succeed(args));
      ids.push(id);
      const opened = await Promise.all(
        Array.from({ length: MAX_STREAMS_PER_KEY + EXCESS }, () => openStream(server.port, own)),
      );
      sockets.push(...opened.map(({ socket }) => socket));
      open.push(opened.filter(({ status }) => status === '200').length);
    }
    const agent = new Agent({ keepAlive: true });
    for (let first = 1; first <= ORDERS; first += AT_ONCE) {
      const orders = Array.from({ length: AT_ONCE }, (_, index) => `{"id":${first + index}}`);
      const { status } = await send(
        { port: server.port, agent, limitMs: LIMIT_MS },
        {
          ...{ method: 'POST', path: '/v2/store/orders/cancel', secret },
          body: `{"orders":[${orders.join(',')}]}`,
        },
      );
      if (status !== 200) throw new Error(`cancels were answered ${status}`);
    }
    const busy = await client.p99(MEASURED_MS);
    const during = await server.usage();
    await succeed(['keys', 'revoke', ids[0]!, '--database', database]);
    await pause(ENDED_WITHIN_MS);
    const left = await server.usage();
    // Those of the last key are still there when the service is stopped.
    for (const socket of sockets.slice(0, -MAX_STREAMS_PER_KEY)) socket.destroy();
    await pause(ENDED_WITHIN_MS);
    // The speed of the machine may have changed.
    const quiet = Math.max(first, await client.p99(MEASURED_MS));
    client.end();
    agent.destroy();
    const began = performance.now();
    await server.stop();
    const seconds = (performance.now() - began) / 1_000;
    for (const socket of sockets) socket.destroy();
    const mib = (during.resident - before.resident) / 2 ** 20;
    const ended = during.sockets - left.sockets;
    const most = Math.max(...open);
    const buffers = 'reason' in shim ? ` (with the system's buffers: ${shim.reason})` : '';
    const figures =
      `${most} of ${MAX_STREAMS_PER_KEY + EXCESS} were opened; ${mib.toFixed(0)} MiB${buffers}; ` +
      `${quiet.toFixed(1)} ms without, ${busy.toFixed(1)} ms with them; ${ended} ended with their key, the others within ${seconds.toFixed(1)} s`;
    const isBounded = most === MAX_STREAMS_PER_KEY && mib <= MOST_MIB;
    const haveEnded = ended >= MAX_STREAMS_PER_KEY && seconds <= STOPPED_WITHIN_S;
    const isKept = isBounded && haveEnded && isWithinLimit(busy, quiet);
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
