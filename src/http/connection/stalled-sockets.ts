import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Returns a live set of the open connections of a server. */
export function openSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/**
 * Destroys connections whose client does not read pending output for `limitMs`. Node's socket timeout does not detect
 * them: it restarts with every byte that the client sends.
 * @returns a function that stops the checks
 */
export function closeStalled(
  sockets: ReadonlySet<Socket>,
  { limitMs, intervalMs }: { limitMs: number; intervalMs: number },
): () => void {
  /** The bytes flushed per connection, and the time of the last change of that number. */
  const progress = new WeakMap<Socket, { readonly out: number; readonly since: number }>();
  const timer = setInterval(() => {
    const now = performance.now();
    for (const socket of sockets) {
      const out = socket.bytesWritten - socket.writableLength;
      const before = progress.get(socket);
      if (before === undefined || before.out !== out || socket.writableLength === 0) {
        progress.set(socket, { out, since: now });
      } else if (now - before.since >= limitMs) socket.destroy();
    }
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
