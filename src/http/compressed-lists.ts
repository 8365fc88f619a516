import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, zstdCompress, zstdCompressSync } from 'node:zlib';
import type { Block } from '../orders/blocks.ts';
import type { Snapshot } from '../orders/listing.ts';
import type { Coding } from './accept-encoding.ts';
import { combinedCrc32 } from './crc32.ts';
import { within } from './deadline.ts';

/** A list as it is sent. */
export interface EncodedList {
  readonly chunks: readonly Buffer[];
  readonly byteLength: number;
}

/** The compressed form of a block: one for all lists that it is in. */
interface Piece {
  /** Stands for the comma and all that follows it. */
  readonly bytes: Buffer;
  /** Of the block as it is, for gzip. */
  readonly crc: number;
}

/** How to compress. Each text stands for itself, so that forms can be put together at will. */
interface Method {
  readonly begin: Buffer;
  /** Forms of the one character before a block, and of the last one of all. */
  readonly opening: Buffer;
  readonly comma: Buffer;
  readonly closing: Buffer;
  readonly compress: (text: Uint8Array) => Promise<Uint8Array>;
  readonly end: (crc: number, length: number) => Buffer;
}

/** A smaller list is one packet anyway. */
const MIN_BYTES = 1_024;
/** How long a client waits for a list to be compressed before it gets it as it is. */
const PATIENCE_MS = 1_000;
/** Small enough to use one core for well under a second for a million orders; more saves a tenth. */
const GZIP_LEVEL = 6;
/** On lists of orders as small as the default, and faster. */
const ZSTD_LEVEL = 1;
/** Blocks compressed at the same time, on threads of their own. */
const CONCURRENCY = 2;

const deflate = promisify(deflateRaw);
const zstd = promisify(zstdCompress);
const ZSTD_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } };
const zstdFrame = (text: string) => zstdCompressSync(Buffer.from(text), ZSTD_OPTIONS);

/** A stored deflate block, which ends on a whole byte: RFC 1951, section 3.2.4. */
function stored(text: string, isLast: boolean): Buffer {
  return Buffer.from([Number(isLast), 1, 0, 0xfe, 0xff, text.charCodeAt(0)]);
}

const METHODS: Readonly<Record<Coding, Method>> = {
  // One member, whose blocks know nothing of each other: some clients stop after the first of several.
  gzip: {
    begin: Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]),
    opening: stored('[', false),
    comma: stored(',', false),
    closing: stored(']', true),
    compress: (text) => deflate(text, { level: GZIP_LEVEL, finishFlush: constants.Z_SYNC_FLUSH }),
    end: (crc, length) => {
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(crc, 0);
      trailer.writeUInt32LE(length % 2 ** 32, 4);
      return trailer;
    },
  },
  // One frame after another: RFC 8878, section 3.
  zstd: {
    begin: Buffer.alloc(0),
    opening: zstdFrame('['),
    comma: zstdFrame(','),
    closing: zstdFrame(']'),
    compress: (text) => zstd(text, ZSTD_OPTIONS),
    end: () => Buffer.alloc(0),
  },
};

/**
 * Lists in a content coding. Each block is compressed when it is first needed, away from the event loop,
 * and kept as long as the block itself: at most one form of each coding, a sixth of its size or so.
 */
export class CompressedLists {
  readonly #pieces: Readonly<Record<Coding, WeakMap<Block, Promise<Piece>>>> = {
    zstd: new WeakMap(),
    gzip: new WeakMap(),
  };
  readonly #lists: Readonly<Record<Coding, WeakMap<Snapshot, Promise<EncodedList>>>> = {
    zstd: new WeakMap(),
    gzip: new WeakMap(),
  };

  /** In the coding that is wanted, if there is one and it pays, and can be had soon, within `ms` at most. */
  async best(
    snapshot: Snapshot,
    wanted: Coding | undefined,
    ms = PATIENCE_MS,
  ): Promise<{ coding: Coding | undefined; list: EncodedList }> {
    if (wanted !== undefined && snapshot.byteLength >= MIN_BYTES) {
      // A large list that nobody has asked for yet may take longer: it goes on, for those who come next.
      const list = await within(Math.min(ms, PATIENCE_MS), () =>
        this.#list(snapshot, wanted),
      ).catch(() => undefined);
      if (list !== undefined) return { coding: wanted, list };
    }
    return { coding: undefined, list: snapshot };
  }

  /** However many ask for it, it is made once. */
  #list(snapshot: Snapshot, coding: Coding): Promise<EncodedList> {
    const lists = this.#lists[coding];
    let list = lists.get(snapshot);
    if (list === undefined) {
      list = this.#encode(snapshot, coding);
      lists.set(snapshot, list);
      // Whoever asks next tries again.
      list.catch(() => lists.delete(snapshot));
    }
    return list;
  }

  async #encode({ blocks, byteLength }: Snapshot, coding: Coding): Promise<EncodedList> {
    const pieces = new Array<Piece>(blocks.length);
    let next = 0;
    const work = async () => {
      for (let at = next++; at < blocks.length; at = next++) {
        pieces[at] = await this.#piece(blocks[at]!, coding);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));

    const { begin, opening, comma, closing, end } = METHODS[coding];
    let crc = crc32('[');
    const chunks: Buffer[] = [Buffer.concat([begin, opening])];
    for (const [at, piece] of pieces.entries()) {
      const { bytes } = blocks[at]!;
      // The first block goes without its comma.
      chunks.push(at === 0 ? piece.bytes.subarray(comma.length) : piece.bytes);
      crc = at === 0 ? crc32(bytes.subarray(1), crc) : combinedCrc32(crc, piece.crc, bytes.length);
    }
    crc = crc32(']', crc);
    chunks.push(Buffer.concat([closing, end(crc, byteLength)]));
    return { chunks, byteLength: chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
  }

  #piece(block: Block, coding: Coding): Promise<Piece> {
    const pieces = this.#pieces[coding];
    let piece = pieces.get(block);
    if (piece === undefined) {
      piece = compressed(block, METHODS[coding]);
      pieces.set(block, piece);
      piece.catch(() => pieces.delete(block));
    }
    return piece;
  }
}

async function compressed({ bytes }: Block, { comma, compress }: Method): Promise<Piece> {
  const text = await compress(bytes.subarray(1));
  const form = Buffer.allocUnsafeSlow(comma.length + text.length);
  form.set(comma);
  form.set(text, comma.length);
  return { bytes: form, crc: crc32(bytes) };
}
