import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, as they come and go. */
export function openSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/**
 * Ends connections whose client takes nothing of what is to be sent to it. Node's own time-out of a
 * connection begins anew with every byte that the client sends.
 * @returns what ends the looking
 */
export function closeStalled(
  sockets: ReadonlySet<Socket>,
  { limitMs, intervalMs }: { limitMs: number; intervalMs: number },
): () => void {
  /** How many bytes were out, and since when it has been no more. */
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
