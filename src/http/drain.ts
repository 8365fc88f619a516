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
  const isStillSending = (socket: Socket): boolean => {
    const answer = turns.pending(socket);
    return answer === undefined || (!answer.headersSent && !answer.req.complete);
  };
  let timer: NodeJS.Timeout | undefined;
  server.addHook('preClose', (done) => {
    const until = performance.now() + DRAIN_REQUESTS_MS;
    timer = setInterval(() => {
      server.server.closeIdleConnections();
      if (performance.now() < until) return;
      for (const socket of sockets) if (isStillSending(socket)) socket.destroy();
    }, DRAIN_CHECK_INTERVAL_MS);
    done();
  });
  server.addHook('onClose', async () => clearInterval(timer));
}
