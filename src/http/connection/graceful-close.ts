import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { DRAIN_LINGER_MS } from '../limits.ts';
import { lingeringClose, whenClosed } from './lingering-close.ts';
import type { Pipelining } from './pipelining.ts';

/** How long a partly received request may take to arrive. */
const DRAIN_REQUESTS_MS = 2_000;
/** How long a connection that was opened before may take to send its first request. */
export const DRAIN_FIRST_REQUEST_MS = 500;
/** How often idle connections are closed. */
const DRAIN_CHECK_INTERVAL_MS = 50;

/**
 * Graceful shutdown, bounded even when clients stall. Node closes only the connections that are idle when the shutdown begins. This also closes
 * connections that become idle later, or whose client stops in the middle of a request.
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
    // A lingering close has its own time limit.
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
    // server.close calls it, too. Node takes for idle, and destroys, connections whose client has not read the response, that are in a lingering
    // close, or that have not sent a request yet. So none is closed while there is such a connection.
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
    // Deferred, since timers run before sockets are read: after a stall of the process, requests that have arrived must come first.
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
