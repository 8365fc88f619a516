import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LINGER_MS } from '../limits.ts';

/**
 * Half-closes a connection after flushing pending output, then discards input until the client closes its side. Closing a connection with unread
 * input causes a TCP reset, and the client can lose the unread end of a response: RFC 9112, section 9.6. Idempotent.
 * @param lingerMs how long the client may keep sending, or keep its own side open
 */
export function lingeringClose(socket: Socket, lingerMs = LINGER_MS): void {
  if (socket.writableEnded || socket.destroyed) return;
  discardInput(socket);
  socket.end(() => {
    if (socket.destroyed) return;
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  });
}

/** Connections whose input is discarded. */
const discarding = new WeakSet<Socket>();

/** Discards further input, so that the client's end is detected. For a connection whose current response is its last. */
export function discardInput(socket: Socket): void {
  discarding.add(socket);
  // Detach the parser, which would parse further input as requests.
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.resume();
  // The parser may have stopped reading from the handle, and without the parser `resume` does not start it again.
  socket._read(0);
}

/** Whether the input of a connection is discarded; it must not be paused. */
export function isDiscarding(socket: Socket): boolean {
  return discarding.has(socket);
}

/** Calls `then` when a response has been sent or its connection is closed. If "close" was emitted before, `then` is called at once. */
export function whenClosed(response: ServerResponse, then: () => void): void {
  // Node destroys a response once it has been sent, after ending the connection if it was the last response. "finish" is too early: it is not
  // yet known whether the connection stays open.
  if (response.destroyed) then();
  // Emitted once.
  else response.on('close', then);
}
