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
 * Graceful shutdown, bounded even when clients stall. Node closes only the connections that are idle when the
 * shutdown begins. Connections that become idle later, or whose client stops in the middle of a request, would stay
 * open and keep the server alive.
 * @param sockets the open connections of the server
 * @returns a function that begins the shutdown and resolves when all connections are closed
 */
export function prepareShutdown(
  server: Server,
  sockets: ReadonlySet<Socket>,
  turns: Pipelining,
): () => Promise<void> {
  const pending = () => [...sockets].flatMap((socket) => turns.pending(socket) ?? []);
  /** Whether the connection only waits for the client to send the rest of a request. */
  const isStillSending = (socket: Socket): boolean => {
    const answer = turns.pending(socket);
    // A lingering close has a time limit of its own.
    if (answer === undefined) return !socket.writableEnded;
    // Node assigns the socket to a response when all earlier ones have been sent.
    return answer.socket !== null && !answer.headersSent && !answer.req.complete;
  };
  return () => {
    for (const answer of pending()) {
      answer.shouldKeepAlive = false;
      whenClosed(answer, () => lingeringClose(answer.req.socket, DRAIN_LINGER_MS));
    }
    const begun = performance.now();
    const awaitsFirstRequest = (socket: Socket): boolean =>
      socket.bytesRead === 0 && performance.now() < begun + DRAIN_FIRST_REQUEST_MS;
    // Called by server.close, too. Node also destroys as idle: connections whose response is ended but not yet read by the client,
    // those in a lingering close, and those that have not sent a request yet. So close none while there is such a connection.
    const closeIdle = server.closeIdleConnections.bind(server);
    server.closeIdleConnections = () => {
      if (pending().length > 0) return;
      if ([...sockets].some((socket) => socket.writableEnded || awaitsFirstRequest(socket))) return;
      closeIdle();
    };
    const closeExpired = () => {
      server.closeIdleConnections();
      if (performance.now() < begun + DRAIN_REQUESTS_MS) return;
      for (const socket of sockets) if (isStillSending(socket)) socket.destroy();
    };
    // Timers run before sockets are read. After a stall of the process, requests that have arrived meanwhile come first.
    const timer = setInterval(() => setImmediate(closeExpired), DRAIN_CHECK_INTERVAL_MS);
    return new Promise((resolve) => {
      // For a server that never listened, the callback gets an error, which is ignored.
      server.close(() => {
        clearInterval(timer);
        resolve();
      });
    });
  };
}
