import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { OrderId } from '../../orders/order.ts';
import { parseInt64 } from '../../orders/order.ts';

/** Characters of the file: as many as int64 needs, so that a rewrite needs no space on the disk. */
const LENGTH = 20;

/**
 * The highest id that the store at a path has given, in a file beside the database. A copy of the database that is put back by hand,
 * even one that is written over the file, lacks the latest orders, and tells so only by comparison. The file is not synced: it is
 * for an operator's mistakes, not for a crash.
 */
export class GivenIds {
  readonly #file: number;
  #highest: OrderId;

  /** @throws errors of the file system */
  constructor(path: string) {
    this.#file = openSync(`${path}-ids`, 'a+', 0o600);
    closeSync(this.#file);
    this.#file = openSync(`${path}-ids`, 'r+');
    const text = Buffer.alloc(LENGTH);
    const length = readSync(this.#file, text, 0, LENGTH, 0);
    this.#highest = parseInt64(text.toString('latin1', 0, length).trim()) ?? 0n;
  }

  get highest(): OrderId {
    return this.#highest;
  }

  record(id: OrderId): void {
    if (id === this.#highest) return;
    this.#highest = id;
    writeSync(this.#file, String(id).padEnd(LENGTH), 0);
  }

  close(): void {
    closeSync(this.#file);
  }
}
