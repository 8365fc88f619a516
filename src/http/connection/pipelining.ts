import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MAX_PIPELINED } from '../limits.ts';
import { isDiscarding, whenClosed } from './lingering-close.ts';

interface Connection {
  last: ServerResponse;
  /** Requests waiting for the response before theirs. */
  waiting: number;
}

/**
 * Serializes the pipelined requests of a connection: each begins after the response to the one before. A list
 * requested after a cancel must reflect it, even if the client did not wait for the response to the cancel; RFC 9112,
 * section 9.3.2, allows parallel processing only if all methods are safe.
 */
export class Pipelining {
  readonly #connections = new WeakMap<Socket, Connection>();

  /** Calls `begin` when all earlier requests of the connection have been responded to. */
  take(socket: Socket, response: ServerResponse, begin: () => void): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) {
      this.#connections.set(socket, { last: response, waiting: 0 });
      begin();
      return;
    }
    const before = connection.last;
    connection.last = response;
    if (isOver(before)) {
      if (isOpen(socket)) begin();
      return;
    }
    connection.waiting += 1;
    if (connection.waiting > MAX_PIPELINED) {
      socket.destroy();
      return;
    }
    // Stop reading: further requests would have to be buffered. Deferred, since Node resumes reading after this event.
    process.nextTick(() => {
      if (connection.waiting > 0 && !isDiscarding(socket)) socket.pause();
    });
    whenClosed(before, () => {
      connection.waiting -= 1;
      if (connection.waiting === 0) socket.resume();
      if (isOpen(socket)) begin();
    });
  }

  /** Returns the last response of a connection if it is still pending. */
  pending(socket: Socket): ServerResponse | undefined {
    const last = this.#connections.get(socket)?.last;
    return last === undefined || isOver(last) ? undefined : last;
  }

  /** Returns whether the last request of a connection has not been received completely. */
  isHalfRead(socket: Socket): boolean {
    return this.#connections.get(socket)?.last.req.complete === false;
  }
}

/** Whether a response can still be sent; otherwise the request is not begun: RFC 9112, section 9.6. */
function isOpen(socket: Socket): boolean {
  return !socket.destroyed && !socket.writableEnded;
}

/** Whether the response has been sent or its connection is closed; see `whenClosed`. */
function isOver(response: ServerResponse): boolean {
  return response.destroyed;
}
