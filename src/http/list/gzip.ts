import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import type { Block } from '../../listing/blocks.ts';
import type { Snapshot } from '../../listing/listing.ts';
import { within } from '../../store/within.ts';
import { combinedCrc32 } from './crc32.ts';

/** A list as it is sent. */
export interface EncodedList {
  readonly chunks: readonly Buffer[];
  readonly byteLength: number;
}

/** The compressed form of a block, shared by all lists that contain the block. */
interface Piece {
  /** Of the comma before the block and the block. */
  readonly deflated: Buffer;
  /** CRC-32 of the uncompressed bytes. */
  readonly crc: number;
}

/** Smaller lists fit one packet uncompressed. */
const MIN_BYTES = 1_024;
/** A client that would wait longer for a compressed list gets it uncompressed. */
const PATIENCE_MS = 1_000;
/** Uses one core for well under a second per million orders; higher levels save a tenth at most. */
const LEVEL = 6;
/** Blocks compressed at the same time, in libuv's threads. */
const CONCURRENCY = 2;

const deflate = promisify(deflateRaw);

/** RFC 1952, section 2.3: deflate, no flags, no time, unknown system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const OPENING = stored('[', false);
const COMMA = stored(',', false);
const CLOSING = stored(']', true);

/** One character as a stored deflate block, which ends on a whole byte: RFC 1951, section 3.2.4. */
function stored(character: string, isLast: boolean): Buffer {
  return Buffer.from([Number(isLast), 1, 0, 0xfe, 0xff, character.charCodeAt(0)]);
}

/** RFC 1952, section 2.3.1. */
function trailer(crc: number, length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(crc, 0);
  bytes.writeUInt32LE(length % 2 ** 32, 4);
  return bytes;
}

/**
 * Lists as one gzip member each. A block is compressed when it is first needed, off the event loop, and its
 * compressed form lives as long as the block. Blocks are independent deflate data that end on whole
 * bytes, so any of them can be concatenated.
 */
export class GzipLists {
  readonly #pieces = new WeakMap<Block, Promise<Piece>>();
  readonly #lists = new WeakMap<Snapshot, Promise<EncodedList>>();

  /** The compressed list; undefined if it is too small or cannot be ready within `ms`, or a second at most. */
  async get(snapshot: Snapshot, ms = PATIENCE_MS): Promise<EncodedList | undefined> {
    if (snapshot.byteLength < MIN_BYTES) return undefined;
    // The compression continues for later requests.
    return within(Math.min(ms, PATIENCE_MS), () => this.#list(snapshot)).catch(() => undefined);
  }

  #list(snapshot: Snapshot): Promise<EncodedList> {
    let list = this.#lists.get(snapshot);
    if (list === undefined) {
      list = this.#encode(snapshot);
      this.#lists.set(snapshot, list);
      // The next request tries again.
      list.catch(() => this.#lists.delete(snapshot));
    }
    return list;
  }

  async #encode({ blocks, byteLength }: Snapshot): Promise<EncodedList> {
    const pieces = new Array<Piece>(blocks.length);
    let next = 0;
    const work = async () => {
      for (let at = next++; at < blocks.length; at = next++) {
        pieces[at] = await this.#piece(blocks[at]!);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));

    let crc = crc32('[');
    const chunks: Buffer[] = [Buffer.concat([HEADER, OPENING])];
    for (const [at, piece] of pieces.entries()) {
      const { bytes } = blocks[at]!;
      // The first block has no comma before it.
      chunks.push(at === 0 ? piece.deflated.subarray(COMMA.length) : piece.deflated);
      crc = at === 0 ? crc32(bytes.subarray(1), crc) : combinedCrc32(crc, piece.crc, bytes.length);
    }
    crc = crc32(']', crc);
    chunks.push(Buffer.concat([CLOSING, trailer(crc, byteLength)]));
    return { chunks, byteLength: chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
  }

  #piece(block: Block): Promise<Piece> {
    let piece = this.#pieces.get(block);
    if (piece === undefined) {
      piece = compress(block);
      this.#pieces.set(block, piece);
      piece.catch(() => this.#pieces.delete(block));
    }
    return piece;
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
