import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { MAX_PIPELINED } from '../limits.ts';
import { whenClosed } from './lingering-close.ts';

interface Connection {
  /** The answer to the request that came last. */
  last: ServerResponse;
  /** Requests that wait for the answer before theirs. */
  waiting: number;
}

/**
 * Gives the requests of one connection their turns: each begins when the one before is answered. A
 * list that was sent after a cancel must show it, also without waiting for the cancel's answer; RFC
 * 9112, section 9.3.2, allows requests at the same time only if none of them changes anything.
 */
export class Pipelining {
  readonly #connections = new WeakMap<Socket, Connection>();

  /** Calls `begin` when it is the turn of the request that `response` will answer. */
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
    // What is read would have to be kept. Later, since Node resumes reading after this request.
    process.nextTick(() => {
      if (connection.waiting > 0) socket.pause();
    });
    whenClosed(before, () => {
      connection.waiting -= 1;
      if (connection.waiting === 0) socket.resume();
      if (isOpen(socket)) begin();
    });
  }

  /** The last answer that is still to come on a connection, if there is one. */
  pending(socket: Socket): ServerResponse | undefined {
    const last = this.#connections.get(socket)?.last;
    return last === undefined || isOver(last) ? undefined : last;
  }

  /** Whether the last request has been answered before all of it had come. */
  isHalfRead(socket: Socket): boolean {
    return this.#connections.get(socket)?.last.req.complete === false;
  }
}

/** Otherwise nobody would hear the answer, so the request is not begun: RFC 9112, section 9.6. */
function isOpen(socket: Socket): boolean {
  return !socket.destroyed && !socket.writableEnded;
}

/** Out, or its connection is gone; see `whenClosed`. */
function isOver(response: ServerResponse): boolean {
  return response.destroyed;
}
