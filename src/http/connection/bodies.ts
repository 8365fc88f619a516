import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal } from '../error-records.ts';
import { MAX_BODY_BYTES } from '../limits.ts';

/** A request whose body is still arriving, and the callback that ends reading it. */
interface Reading {
  readonly request: IncomingMessage;
  readonly end: (problem: Refusal) => void;
}

export const NO_BODY = Buffer.alloc(0);

/** Reads or discards request bodies. In both cases a request has no effect before its framing proved valid. */
export class Bodies {
  readonly #reading = new WeakMap<Socket, Reading>();
  /** Errors on connections from which no body is being read yet. */
  readonly #broken = new WeakMap<Socket, Refusal>();

  /**
   * Calls `done` when the whole body has arrived, or with its problem as soon as there is one.
   * @param mostKept maximum size of a body that `done` gets; undefined if it is discarded
   */
  read(
    request: IncomingMessage,
    mostKept: number | undefined,
    done: (body: Buffer, problem?: Refusal) => void,
  ): void {
    const keep = mostKept !== undefined;
    const problem = this.#broken.get(request.socket);
    if (request.complete ? !keep : problem !== undefined) {
      done(NO_BODY, request.complete ? undefined : problem);
      return;
    }
    const limit = mostKept ?? MAX_BODY_BYTES;
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      done(NO_BODY, 'body_too_large');
      return;
    }
    let isOver = false;
    const chunks: Buffer[] = [];
    const end = (problem?: Refusal) => {
      if (isOver) return;
      isOver = true;
      this.#reading.delete(request.socket);
      done(keep && problem === undefined ? Buffer.concat(chunks) : NO_BODY, problem);
    };
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limit) end('body_too_large');
      else if (keep) chunks.push(chunk);
    });
    request.on('end', () => end());
    this.#reading.set(request.socket, { request, end });
  }

  /**
   * Reports a problem to the request whose body is being read on a connection, or will be read next.
   * @returns whether a body was being read
   */
  fail(socket: Socket, problem: Refusal): boolean {
    const reading = this.#reading.get(socket);
    // If the body is complete, the malformed bytes come after it, even if "end" has not been emitted yet.
    const isBroken = reading !== undefined && !reading.request.complete;
    if (isBroken) reading.end(problem);
    else this.#broken.set(socket, problem);
    return isBroken;
  }
}
