import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import {
  DRAIN_CHECK_INTERVAL_MS,
  DRAIN_FIRST_REQUEST_MS,
  DRAIN_LINGER_MS,
  DRAIN_REQUESTS_MS,
} from '../limits.ts';
import { lingeringClose, whenClosed } from './lingering-close.ts';
import type { Pipelining } from './pipelining.ts';

/**
 * Lets a server come to its end, however its clients behave. Node closes those connections that are idle
 * when the closing begins. Those that finish an answer later would be kept alive, and the server with
 * them, and so would those that have begun to send a request and do not go on.
 * @param sockets those of the server
 * @returns what begins the closing and resolves when all connections are closed
 */
export function prepareShutdown(
  server: Server,
  sockets: ReadonlySet<Socket>,
  turns: Pipelining,
): () => Promise<void> {
  const pending = () => [...sockets].flatMap((socket) => turns.pending(socket) ?? []);
  /** Whether a connection waits for nothing but a client that may never go on. */
  const isStillSending = (socket: Socket): boolean => {
    const answer = turns.pending(socket);
    // Closed in stages, which ends by itself.
    if (answer === undefined) return !socket.writableEnded;
    // Node gives an answer the socket when it is its turn.
    return answer.socket !== null && !answer.headersSent && !answer.req.complete;
  };
  const acceptedAt = new WeakMap<Socket, number>();
  server.on('connection', (socket: Socket) => acceptedAt.set(socket, performance.now()));
  /** Whether the first request of a connection may be on its way. */
  const isNew = (socket: Socket): boolean =>
    socket.bytesRead === 0 && performance.now() - acceptedAt.get(socket)! < DRAIN_FIRST_REQUEST_MS;
  // Node destroys connections as idle whose response has been ended but is not yet read by the client, that are closed
  // in stages, or that have not sent their first request. So none is closed while there is such a connection.
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    if (pending().length > 0) return;
    if (![...sockets].some((socket) => socket.writableEnded || isNew(socket))) closeIdle();
  };
  return () => {
    for (const answer of pending()) {
      answer.shouldKeepAlive = false;
      whenClosed(answer, () => lingeringClose(answer.req.socket, DRAIN_LINGER_MS));
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
