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
  const pending = () => [...sockets].flatMap((socket) => turns.pending(socket) ?? []);
  const isStillSending = (socket: Socket): boolean => {
    const answer = turns.pending(socket);
    return answer === undefined || (!answer.headersSent && !answer.req.complete);
  };
  // Node takes a connection for idle whose answer has been ended but waits, in part, for its client to read. So it
  // closes none while there is an answer to come, neither now and then below nor when the closing begins.
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    if (pending().length === 0) closeIdle();
  };
  return () => {
    for (const answer of pending()) answer.shouldKeepAlive = false;
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
