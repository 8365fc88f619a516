import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from './errors.ts';
import { MAX_BODY_BYTES } from './limits.ts';

/**
 * Reads request bodies to nowhere. No operation has one, but what frames it must be valid, and is
 * seen to be so before the request has an effect.
 */
export class Bodies {
  /** How to end the reading that is under way on a connection. */
  readonly #reading = new WeakMap<Socket, (problem: ErrorCode) => void>();
  /** What is wrong with the bytes of a connection from which no body is being read yet. */
  readonly #broken = new WeakMap<Socket, ErrorCode>();

  /** Calls `done` when all of the request's body has come, or with what is wrong with it. */
  discard(request: IncomingMessage, done: (problem?: ErrorCode) => void): void {
    const problem = this.#broken.get(request.socket);
    if (request.complete || problem !== undefined) {
      done(request.complete ? undefined : problem);
      return;
    }
    let isOver = false;
    const end = (problem?: ErrorCode) => {
      if (isOver) return;
      isOver = true;
      this.#reading.delete(request.socket);
      done(problem);
    };
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) end('body_too_large');
    });
    request.on('end', () => end());
    this.#reading.set(request.socket, end);
  }

  /**
   * Tells the request whose body is being read on a connection, or will be, what is wrong with it.
   * Whether one is being read.
   */
  fail(socket: Socket, problem: ErrorCode): boolean {
    const end = this.#reading.get(socket);
    if (end === undefined) this.#broken.set(socket, problem);
    else end(problem);
    return end !== undefined;
  }
}
