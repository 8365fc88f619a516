import type { ServerResponse } from 'node:http';
import type { Snapshot } from '../../listing/listing.ts';
import { whenClosed } from '../connection/lingering-close.ts';
import type { EncodedList } from './gzip.ts';

/**
 * Handed to a reader in one turn of the event loop: little enough for all others, and for cancels, to get
 * their turns soon, and for what is copied to be in the processor's cache still.
 */
const BYTES_AT_A_TIME = 256 * 1024;

/**
 * Sends lists to their readers, each at its own pace. Readers of one snapshot share its blocks, and
 * snapshots share those that did not change between them; what only slow readers still need is
 * bounded, and beyond the bound the readers that are furthest behind are cut off.
 */
export class ListSender {
  readonly #maxSupersededBytes: number;
  readonly #onBytes: (count: number) => void;
  /** Oldest snapshot first. */
  readonly #readers = new Map<Snapshot, Set<ServerResponse>>();

  /**
   * @param maxSupersededBytes of blocks that are in no current list but in one still being read
   * @param onBytes is told how many bytes were handed to a socket
   */
  constructor(maxSupersededBytes: number, onBytes: (count: number) => void) {
    this.#maxSupersededBytes = maxSupersededBytes;
    this.#onBytes = onBytes;
  }

  /**
   * Writes the list of `snapshot` as the body of `response`, whose head is written, and ends it. Nothing
   * is copied.
   */
  send(response: ServerResponse, snapshot: Snapshot, { chunks }: EncodedList = snapshot): void {
    // Its client may have left while the list was made ready.
    if (response.destroyed) return;
    this.#register(response, snapshot);
    let next = 0;
    const writeMore = () => {
      if (response.destroyed) return;
      let written = 0;
      let hasRoom = true;
      // Handed to the system in one call, with the head if that is still to go.
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
    // Not at once: a reader who takes all there is would have the event loop to itself.
    response.on('drain', () => setImmediate(writeMore));
    writeMore();
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
   * From snapshot to snapshot, newest first, what the older one holds alone is at most what was
   * replaced between them, and at most all of it.
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
