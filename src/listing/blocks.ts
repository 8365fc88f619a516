import type { OrderId } from '../domain/order.ts';

/** Orders in a new block: large enough to send in one write, small enough to rebuild often. */
const BLOCK_ORDERS = 512;
/** A block that grows beyond this number of orders is split. */
const MAX_BLOCK_ORDERS = 2 * BLOCK_ORDERS;
/** A smaller block is merged with the one before it. */
const MIN_BLOCK_ORDERS = BLOCK_ORDERS / 4;

/**
 * A section of the list in ascending id: the JSON text of each order, preceded by a comma. Immutable, so that any
 * number of readers can share it while the list changes.
 */
export interface Block {
  readonly ids: BigInt64Array;
  /** End offset in `bytes` of each order's text. */
  readonly ends: Uint32Array;
  readonly bytes: Buffer;
}

/** The new state of an order: its JSON text (ASCII), or undefined if it leaves the list. */
interface Entry {
  readonly id: OrderId;
  readonly text: string | undefined;
}

/**
 * Applies `entries` to `blocks`, both in ascending id. Blocks without an entry are reused. The cost is proportional
 * to the blocks touched, not to the orders listed.
 * @returns the new blocks, and the number of bytes in the blocks that were replaced
 */
export function withEntries(
  blocks: readonly Block[],
  entries: readonly Entry[],
): { readonly blocks: Block[]; readonly replacedBytes: number } {
  const result: Block[] = [];
  let replacedBytes = 0;
  let nextBlock = 0;
  let nextEntry = 0;
  while (nextEntry < entries.length) {
    const touched = blockFor(blocks, entries[nextEntry]!.id);
    while (nextBlock < touched) result.push(blocks[nextBlock++]!);
    const from = nextEntry;
    const beyond = blocks[touched + 1]?.ids[0];
    do nextEntry += 1;
    while (nextEntry < entries.length && (beyond === undefined || entries[nextEntry]!.id < beyond));
    const touchedEntries = entries.slice(from, nextEntry);
    let block = blocks[touched];
    const isLast = touched === blocks.length - 1;
    if (isLast && block !== undefined && isFullBefore(block, touchedEntries[0]!)) {
      result.push(block);
      block = undefined;
    }
    replacedBytes += pushMerged(result, block, touchedEntries);
    nextBlock = touched + 1;
  }
  while (nextBlock < blocks.length) result.push(blocks[nextBlock++]!);
  return { blocks: result, replacedBytes };
}

/** Returns the index of the block that contains or would contain `id`: the last one starting at or before it. */
function blockFor(blocks: readonly Block[], id: OrderId): number {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (blocks[middle]!.ids[0]! <= id) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns whether the last block is full and the entry comes after all its orders, so that a new block is started. */
function isFullBefore({ ids }: Block, { id }: Entry): boolean {
  return ids.length >= BLOCK_ORDERS && id > ids.at(-1)!;
}

/**
 * Pushes the blocks that replace `block` (undefined in an empty list): none, one or several.
 * @returns the number of bytes in the replaced blocks
 */
function pushMerged(result: Block[], block: Block | undefined, entries: readonly Entry[]): number {
  const pieces = merge(block, entries);
  let replacedBytes = block?.bytes.length ?? 0;
  let count = pieces.reduce((sum, piece) => sum + orderCount(piece), 0);
  if (count === 0) return replacedBytes;
  const before = result.at(-1);
  if (count < MIN_BLOCK_ORDERS && before && before.ids.length + count <= BLOCK_ORDERS) {
    pieces.unshift({ block: before, from: 0, to: before.ids.length });
    count += before.ids.length;
    replacedBytes += before.bytes.length;
    result.pop();
  }
  const blockCount = count <= MAX_BLOCK_ORDERS ? 1 : Math.ceil(count / BLOCK_ORDERS);
  const builder = new BlockBuilder(result, Math.ceil(count / blockCount));
  for (const piece of pieces) {
    if ('text' in piece) builder.add(piece.id, piece.text);
    else builder.keep(piece.block, piece.from, piece.to);
  }
  builder.endBlock();
  return replacedBytes;
}

/** The orders `from` (inclusive) to `to` (exclusive) of a block, unchanged. */
interface Kept {
  readonly block: Block;
  readonly from: number;
  readonly to: number;
}
type Piece = Kept | { readonly id: OrderId; readonly text: string };

function orderCount(piece: Piece): number {
  return 'text' in piece ? 1 : piece.to - piece.from;
}

function merge(block: Block | undefined, entries: readonly Entry[]): Piece[] {
  const pieces: Piece[] = [];
  let kept = 0;
  for (const { id, text } of entries) {
    if (block !== undefined) {
      const from = kept;
      while (kept < block.ids.length && block.ids[kept]! < id) kept += 1;
      if (kept > from) pieces.push({ block, from, to: kept });
      if (block.ids[kept] === id) kept += 1;
    }
    if (text !== undefined) pieces.push({ id, text });
  }
  if (block !== undefined && kept < block.ids.length) {
    pieces.push({ block, from: kept, to: block.ids.length });
  }
  return pieces;
}

/** Pushes a block each time that it is full. */
class BlockBuilder {
  readonly #blocks: Block[];
  readonly #ids: BigInt64Array;
  readonly #ends: Uint32Array;
  #length = 0;
  #parts: (Buffer | string)[] = [];
  /** Text added since the last part. */
  #text = '';
  #byteLength = 0;

  /** @param size number of orders in a block; the last one can have fewer */
  constructor(blocks: Block[], size: number) {
    this.#blocks = blocks;
    this.#ids = new BigInt64Array(size);
    this.#ends = new Uint32Array(size);
  }

  add(id: OrderId, text: string): void {
    this.#text += `,${text}`;
    this.#byteLength += text.length + 1;
    this.#ids[this.#length] = id;
    this.#ends[this.#length] = this.#byteLength;
    this.#length += 1;
    if (this.#length === this.#ids.length) this.endBlock();
  }

  keep(block: Block, from: number, end: number): void {
    const { ids, ends, bytes } = block;
    const to = Math.min(end, from + this.#ids.length - this.#length);
    this.#endText();
    const start = from === 0 ? 0 : ends[from - 1]!;
    const shift = this.#byteLength - start;
    this.#ids.set(ids.subarray(from, to), this.#length);
    for (let index = from; index < to; index += 1) {
      this.#ends[this.#length] = ends[index]! + shift;
      this.#length += 1;
    }
    this.#parts.push(bytes.subarray(start, ends[to - 1]));
    this.#byteLength += ends[to - 1]! - start;
    if (this.#length === this.#ids.length) this.endBlock();
    if (to < end) this.keep(block, to, end);
  }

  /** Pushes a block of everything added and kept since the last one, if there is anything. */
  endBlock(): void {
    if (this.#length === 0) return;
    this.#endText();
    // Not from Node's shared pool: a block would keep unrelated buffers alive there.
    const bytes = Buffer.allocUnsafeSlow(this.#byteLength);
    let offset = 0;
    for (const part of this.#parts) {
      offset +=
        typeof part === 'string' ? bytes.write(part, offset, 'latin1') : part.copy(bytes, offset);
    }
    const [ids, ends] = [this.#ids.slice(0, this.#length), this.#ends.slice(0, this.#length)];
    this.#blocks.push({ ids, ends, bytes });
    this.#length = 0;
    this.#parts = [];
    this.#byteLength = 0;
  }

  #endText(): void {
    if (this.#text === '') return;
    this.#parts.push(this.#text);
    this.#text = '';
  }
}
