import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LINGER_MS } from '../limits.ts';

/**
 * Half-closes a connection after flushing pending output, then discards input until the client closes its side.
 * Closing a connection with unread input causes a TCP reset, which can cost the client the end of a response that it
 * has not read yet: RFC 9112, section 9.6. Idempotent.
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

/**
 * Reads on without parsing further requests, so that the client's end is noticed: for a connection whose current response
 * is its last.
 */
export function discardInput(socket: Socket): void {
  discarding.add(socket);
  // Detach the parser, which would parse further input as requests.
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.resume();
  // The parser may have stopped reading from the handle, which `resume` does not start again without the parser. Then neither
  // input is discarded nor the client's end noticed.
  socket._read(0);
}

/** Whether the input of a connection is discarded; it must not be paused. */
export function isDiscarding(socket: Socket): boolean {
  return discarding.has(socket);
}

/**
 * Calls `then` when a response has been sent or its connection is closed. If "close" was emitted before, `then` is
 * called at once.
 */
export function whenClosed(response: ServerResponse, then: () => void): void {
  // Node destroys a response once it has been sent, after ending the connection if that was the last response.
  // "finish" comes earlier, when it is not yet known whether the connection stays open.
  if (response.destroyed) then();
  // Emitted once.
  else response.on('close', then);
}
