import type { ServerResponse } from 'node:http';
import { whenClosed } from '../http/connection/lingering-close.ts';
import type { Snapshot } from './listing.ts';

/**
 * Bytes written to one response per turn of the event loop: small enough not to delay other requests, and for the
 * data to be still in the CPU cache when the kernel copies it.
 */
const BYTES_AT_A_TIME = 256 * 1024;

/**
 * Maximum bytes of blocks that are retained only for slow clients, in snapshots that are no longer current; beyond it, the responses of the oldest
 * snapshots are destroyed.
 */
const MAX_SUPERSEDED_BYTES = 256 * 1024 * 1024;

/**
 * Sends list snapshots, each response at the pace of its client. Responses of one snapshot share its blocks, and
 * snapshots share unchanged blocks.
 */
export class ListSender {
  readonly #maxSupersededBytes: number;
  readonly #onBytes: (count: number) => void;
  /** Writes of responses that have room for more, in order. */
  readonly #writes: (() => void)[] = [];
  /** Responses in progress, oldest snapshot first. */
  readonly #readers = new Map<Snapshot, Set<ServerResponse>>();

  /** @param onBytes called with the number of bytes written to a socket */
  constructor(onBytes: (count: number) => void, maxSupersededBytes = MAX_SUPERSEDED_BYTES) {
    this.#onBytes = onBytes;
    this.#maxSupersededBytes = maxSupersededBytes;
  }

  /** Writes `snapshot` as the body of `response`, whose head was written before, and ends it. Copies no buffers. */
  send(
    response: ServerResponse,
    snapshot: Snapshot,
    { chunks }: Pick<Snapshot, 'chunks'> = snapshot,
  ): void {
    // The client may have disconnected while the list was prepared.
    if (response.destroyed) return;
    this.#register(response, snapshot);
    let next = 0;
    const writeMore = () => {
      if (response.destroyed) return;
      let written = 0;
      let hasRoom = true;
      // Flushed in one system call, with the head if it is still buffered.
      response.cork();
      while ((hasRoom || written < BYTES_AT_A_TIME) && next < chunks.length) {
        const chunk = chunks[next++]!;
        written += chunk.length;
        hasRoom = response.write(chunk);
      }
      response.uncork();
      this.#onBytes(written);
      if (next === chunks.length) response.end();
    };
    response.on('drain', () => this.#queue(writeMore));
    writeMore();
  }

  /**
   * Queues a write. One runs per turn of the event loop, so that other requests wait for one write at most, however many
   * lists are read.
   */
  #queue(write: () => void): void {
    if (this.#writes.push(write) === 1) setImmediate(() => this.#writeNext());
  }

  #writeNext(): void {
    this.#writes[0]!();
    this.#writes.shift();
    if (this.#writes.length > 0) setImmediate(() => this.#writeNext());
  }

  #register(response: ServerResponse, snapshot: Snapshot): void {
    let responses = this.#readers.get(snapshot);
    if (responses === undefined) {
      responses = new Set();
      this.#readers.set(snapshot, responses);
      this.#cutOff(snapshot);
    }
    responses.add(response);
    whenClosed(response, () => {
      responses.delete(response);
      if (responses.size === 0) this.#readers.delete(snapshot);
    });
  }

  /**
   * Destroys the responses of the oldest snapshots while the bound is exceeded. Going from newest to oldest, a
   * snapshot alone retains at most the bytes replaced since then by the next newer one, and at most its own length.
   */
  #cutOff(current: Snapshot): void {
    let newer = current;
    let superseded = 0;
    for (const [snapshot, responses] of [...this.#readers].reverse()) {
      superseded += Math.min(snapshot.byteLength, newer.replacedBytes - snapshot.replacedBytes);
      newer = snapshot;
      if (superseded <= this.#maxSupersededBytes) continue;
      for (const response of responses) response.destroy();
    }
  }
}
