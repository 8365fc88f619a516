import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import { withTimeout } from '../concurrency.ts';
import { kept, MAX_COMPRESSION_MS, MIN_COMPRESSED_BYTES } from '../http/request/content-coding.ts';
import type { Block } from './blocks.ts';
import type { Snapshot } from './listing.ts';

/** The body of a list response in gzip. */
type EncodedList = Pick<Snapshot, 'chunks' | 'byteLength'>;

/** A compressed block, shared by all list snapshots that contain the block. */
interface Piece {
  /** The leading comma and the block, as deflate data. */
  readonly deflated: Buffer;
  /** CRC-32 of the uncompressed bytes, comma included. */
  readonly crc: number;
}

/** zlib level: a million orders take well under a second of one core; higher levels save at most a tenth of the size. */
const LEVEL = 6;
/** Blocks compressed concurrently, in libuv's thread pool. */
const CONCURRENCY = 2;

const deflate = promisify(deflateRaw);

/** RFC 1952, section 2.3: deflate, no flags, no modification time, unknown operating system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const OPENING = stored('[', false);
const COMMA = stored(',', false);
const CLOSING = stored(']', true);

/** Encodes one character as a stored deflate block, which ends on a byte boundary: RFC 1951, section 3.2.4. */
function stored(character: string, isLast: boolean): Buffer {
  return Buffer.from([Number(isLast), 1, 0, 0xfe, 0xff, character.charCodeAt(0)]);
}

/** Returns CRC32 and ISIZE (length modulo 2^32): RFC 1952, section 2.3.1. */
function trailer(crc: number, length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(crc, 0);
  bytes.writeUInt32LE(length % 2 ** 32, 4);
  return bytes;
}

/**
 * Compresses list snapshots, each into one gzip member. A block is compressed off the event loop when it is first
 * needed, and its compressed form is cached for the lifetime of the block. Compressed blocks are independent and end
 * on byte boundaries, so they can be concatenated in any combination.
 */
export class GzipLists {
  readonly #pieces = new WeakMap<Block, Promise<Piece>>();
  readonly #lists = new WeakMap<Snapshot, Promise<EncodedList>>();

  /**
   * Resolves to the compressed list; undefined if the list is too small, compression fails or it takes too long.
   * @param ms time limit, capped at MAX_COMPRESSION_MS
   */
  async get(snapshot: Snapshot, ms = MAX_COMPRESSION_MS): Promise<EncodedList | undefined> {
    if (snapshot.byteLength < MIN_COMPRESSED_BYTES) return undefined;
    // After a timeout, the compression continues, for later requests.
    return withTimeout(Math.min(ms, MAX_COMPRESSION_MS), () =>
      kept(this.#lists, snapshot, () => this.#encode(snapshot)),
    ).catch(() => undefined);
  }

  async #encode({ blocks, byteLength }: Snapshot): Promise<EncodedList> {
    const pieces = new Array<Piece>(blocks.length);
    let next = 0;
    const work = async () => {
      for (let at = next++; at < blocks.length; at = next++) {
        pieces[at] = await kept(this.#pieces, blocks[at]!, compress);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));

    let crc = crc32('[');
    const chunks: Buffer[] = [Buffer.concat([HEADER, OPENING])];
    for (const [at, piece] of pieces.entries()) {
      const { bytes } = blocks[at]!;
      // The first block has no leading comma.
      chunks.push(at === 0 ? piece.deflated.subarray(COMMA.length) : piece.deflated);
      crc = at === 0 ? crc32(bytes.subarray(1), crc) : combinedCrc32(crc, piece.crc, bytes.length);
    }
    crc = crc32(']', crc);
    chunks.push(Buffer.concat([CLOSING, trailer(crc, byteLength)]));
    return { chunks, byteLength: chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
  }
}

async function compress({ bytes }: Block): Promise<Piece> {
  const options = { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH };
  const text = await deflate(bytes.subarray(1), options);
  const deflated = Buffer.allocUnsafeSlow(COMMA.length + text.length);
  deflated.set(COMMA);
  deflated.set(text, COMMA.length);
  return { deflated, crc: crc32(bytes) };
}

/** The CRC-32 polynomial, bit-reversed: RFC 1952, section 8. */
const POLYNOMIAL = 0xedb88320;
/** The polynomial 1: the highest bit is the coefficient of x^0. */
const ONE = 0x80000000;

/** Multiplies two polynomials modulo POLYNOMIAL. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) !== 0 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}

/** x^(8 * 2^n), for n from 0: appending 2^n zero bytes multiplies a CRC by it. */
const POWERS: readonly number[] = (() => {
  const powers = [ONE >>> 8];
  while (powers.length < 53) powers.push(multiply(powers.at(-1)!, powers.at(-1)!));
  return powers;
})();

/**
 * Combines the CRC-32s of two byte sequences into that of their concatenation: `first` is advanced by as many zero
 * bytes as the second sequence has.
 * @param secondLength in bytes
 */
export function combinedCrc32(first: number, second: number, secondLength: number): number {
  let result = first;
  for (let n = 0, rest = secondLength; rest > 0; n += 1, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(POWERS[n]!, result);
  }
  return (result ^ second) >>> 0;
}
