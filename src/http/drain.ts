import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { DRAIN_CHECK_INTERVAL_MS, DRAIN_REQUESTS_MS } from './limits.ts';
import type { Turns } from './turns.ts';

/**
 * Lets a server come to its end, however its clients behave. Node closes those connections that are idle
 * when the closing begins. Those that finish an answer later would be kept alive, and the server with
 * them, and so would those that have begun to send a request and do not go on.
 * @returns what begins the closing and resolves when all connections are closed
 */
export function draining(server: Server, turns: Turns): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const isStillSending = (socket: Socket): boolean => {
    const answer = turns.pending(socket);
    return answer === undefined || (!answer.headersSent && !answer.req.complete);
  };
  return () => {
    for (const socket of sockets) {
      const answer = turns.pending(socket);
      if (answer !== undefined) answer.shouldKeepAlive = false;
    }
    const until = performance.now() + DRAIN_REQUESTS_MS;
    const timer = setInterval(() => {
      server.closeIdleConnections();
      if (performance.now() < until) return;
      for (const socket of sockets) if (isStillSending(socket)) socket.destroy();
    }, DRAIN_CHECK_INTERVAL_MS);
    return new Promise((resolve) => {
      // One that has never listened says so, and is closed as well.
      server.close(() => {
        clearInterval(timer);
        resolve();
      });
    });
  };
}
