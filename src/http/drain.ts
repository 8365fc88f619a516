import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { DRAIN_CHECK_INTERVAL_MS, DRAIN_REQUESTS_MS } from './limits.ts';
import type { Turns } from './turns.ts';

/**
 * Lets a server that is closing come to its end. Node closes those connections that are idle when the
 * closing begins. Those that finish an answer later would be kept alive, and the server with them, and
 * so would those that have begun to send a request and do not go on.
 */
export function drainWhenClosing(server: FastifyInstance, turns: Turns): void {
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const dropThoseWithoutRequest = () => {
    for (const socket of sockets) if (turns.pending(socket) === undefined) socket.destroy();
  };
  const timers: NodeJS.Timeout[] = [];
  server.addHook('preClose', (done) => {
    timers.push(
      setInterval(() => server.server.closeIdleConnections(), DRAIN_CHECK_INTERVAL_MS),
      setTimeout(dropThoseWithoutRequest, DRAIN_REQUESTS_MS),
    );
    done();
  });
  server.addHook('onClose', async () => timers.forEach(clearTimeout));
}
