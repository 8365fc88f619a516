import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LINGER_MS } from '../limits.ts';

/**
 * Ends a connection after what is still to be sent, and discards what the client still sends. A connection
 * that is closed while bytes of the client are unread is reset, and with the reset the client loses the
 * end of an answer that it has not read yet: RFC 9112, section 9.6. Again is no change.
 * @param lingerMs how long the client may go on sending, or leave its own side open
 */
export function lingeringClose(socket: Socket, lingerMs = LINGER_MS): void {
  if (socket.writableEnded || socket.destroyed) return;
  // Instead of the parser, which would take what follows for requests.
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.resume();
  socket.end(() => {
    if (socket.destroyed) return;
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  });
}

/**
 * Calls `then` when an answer is out or its connection gone, also if that has been so for a while: a
 * "close" that was emitted is not emitted again.
 */
export function whenClosed(response: ServerResponse, then: () => void): void {
  // Node destroys an answer when it is out, after it has ended the connection if that was the last one. It
  // counts as finished before, when it cannot be known yet whether the connection stays.
  if (response.destroyed) then();
  else response.once('close', then);
}
