import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';

/** Numbers of errno.h on Linux. */
export const EIO = 5;
export const ENOSPC = 28;

/** Bytes of `struct faults` in shim.c. */
const SIZE = 32;
const UNTIL_ENDED = -1;

/** What goes wrong below the root of a process that runs under the shim. */
export class Faults {
  /** The file that the process maps: TORTURE_FAULTS. */
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    writeFileSync(path, Buffer.alloc(SIZE));
  }

  /** Every write, truncation and creation of a file fails. */
  failWrites(errno: number): void {
    this.#set(0, errno);
    this.#set(4, UNTIL_ENDED);
  }

  failSyncs(errno: number): void {
    this.#set(8, errno);
    this.#set(12, UNTIL_ENDED);
  }

  /** Every write writes half of its bytes, and reports that. */
  shortenWrites(): void {
    this.#set(16, UNTIL_ENDED);
  }

  /** Every read of a database fails with EIO. */
  failReads(): void {
    this.#set(20, UNTIL_ENDED);
  }

  /** The process sees a clock that is wrong by so many seconds. */
  shiftClock(seconds: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    this.#write(24, bytes);
  }

  /** Nothing fails any more, and the clock is right. */
  end(): void {
    this.#write(0, Buffer.alloc(SIZE));
  }

  #set(at: number, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    this.#write(at, bytes);
  }

  #write(at: number, bytes: Buffer): void {
    const file = openSync(this.path, 'r+');
    writeSync(file, bytes, 0, bytes.length, at);
    closeSync(file);
  }
}
