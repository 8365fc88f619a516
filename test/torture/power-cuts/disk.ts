import { dirname } from 'node:path';
import type { Random } from '../random.ts';
import type { Entry } from './record.ts';

/** What happened to the writes that were not yet synced when the power failed. */
export const FATES = ['none', 'all', 'some', 'torn 512', 'torn 4096', 'reordered'] as const;
export type Fate = (typeof FATES)[number];

type Change =
  | { readonly at: number; readonly bytes: Buffer }
  /** A truncation. */
  | { readonly length: number };

interface File {
  readonly inode: bigint;
  readonly born: bigint;
  /** What a sync has made durable. */
  durable: Buffer;
  /** The changes since, the oldest first. */
  readonly pending: Change[];
}

/** A change of names in one folder. `apply` may do nothing if the names it needs are missing. */
interface Naming {
  readonly folder: string;
  readonly apply: (names: Names) => void;
}

/** The files and folders (undefined) by path. */
type Names = Map<string, File | undefined>;

/** A file of an image, with the identity that the program saw in the original. */
export interface ImageFile {
  readonly bytes: Buffer;
  readonly inode: bigint;
  readonly born: bigint;
}

/** The files, and the folders (undefined), that a disk has after a power cut. */
export type Image = ReadonlyMap<string, ImageFile | undefined>;

/**
 * A disk that keeps what POSIX requires it to keep: what was written to a file before a sync of that file began, and the names that
 * were changed in a folder before a sync of that folder began. Of everything else any part may be kept, in blocks of 512 bytes at least;
 * names are kept in the order in which they were changed in their folder, as journaling file systems do.
 */
export class Disk {
  readonly #root: string;
  /** The names that programs see. */
  readonly #names: Names = new Map();
  readonly #durableNames: Names = new Map();
  #pendingNames: Naming[] = [];
  readonly #files = new Map<bigint, File>();
  readonly #folders = new Map<bigint, string>();
  /** What was pending when a sync began, by the name of the sync. */
  readonly #syncs = new Map<
    string,
    { readonly of: File | string; readonly pending: readonly unknown[] }
  >();

  /** @param root the folder of all files, to be added like them */
  constructor(root: string) {
    this.#root = root;
  }

  /** Adds a file or folder that was durable before the record began. */
  add(path: string, found?: ImageFile): void {
    const file = found && { ...found, durable: found.bytes, pending: [] };
    if (file !== undefined) this.#files.set(file.inode, file);
    this.#names.set(path, file);
    this.#durableNames.set(path, file);
  }

  /** Applies an entry of a record. @throws Error if it does not fit what was recorded before */
  apply(entry: Entry): void {
    switch (entry.kind) {
      case 'opened':
        this.#open(entry);
        break;
      case 'folder opened':
        this.#folders.set(entry.inode, entry.path);
        break;
      case 'written':
        this.#fileOf(entry.inode).pending.push({ at: entry.at, bytes: entry.bytes });
        break;
      case 'truncated':
        this.#fileOf(entry.inode).pending.push({ length: entry.length });
        break;
      case 'sync begun':
        this.#beginSync(entry.inode, entry.sync);
        break;
      case 'sync done':
        this.#endSync(entry.sync);
        break;
      case 'renamed':
      case 'linked':
        this.#link(entry.from, entry.to, entry.kind === 'renamed');
        break;
      case 'unlinked':
      case 'folder removed':
        this.#name(entry.path, (names) => names.delete(entry.path));
        break;
      case 'folder made':
        this.#name(entry.path, (names) => names.set(entry.path, undefined));
    }
  }

  /** All files as programs see them now: the disk if nothing was lost. */
  now(): Image {
    return imageOf(this.#names, ({ durable, pending }) => changed(durable, pending));
  }

  /** The files that a power cut now may leave. */
  afterPowerCut(fate: Fate, random: Random): Image {
    const names: Names = new Map(this.#durableNames);
    const kept = new Map<string, number>();
    for (const folder of new Set(this.#pendingNames.map((each) => each.folder))) {
      const count = this.#pendingNames.filter((each) => each.folder === folder).length;
      kept.set(folder, fate === 'none' ? 0 : fate === 'all' ? count : random.below(count + 1));
    }
    for (const { folder, apply } of this.#pendingNames) {
      const left = kept.get(folder)!;
      if (left === 0) continue;
      kept.set(folder, left - 1);
      apply(names);
    }
    for (const path of names.keys()) {
      if (path !== this.#root && !names.has(dirname(path))) names.delete(path);
    }
    return imageOf(names, (file) => survivorOf(file, fate, random));
  }

  #open({ inode, path, born }: Entry & { kind: 'opened' }): void {
    const known = this.#names.get(path);
    if (known?.inode === inode) return;
    if (known !== undefined) throw new Error(`${path} is another file than was recorded`);
    const file: File = { inode, born, durable: Buffer.alloc(0), pending: [] };
    // The number of an inode is used again after its last name and descriptor are gone.
    this.#files.set(inode, file);
    this.#name(path, (names) => names.set(path, file));
  }

  #fileOf(inode: bigint): File {
    const file = this.#files.get(inode);
    if (file === undefined) throw new Error(`no file with the inode ${inode} was opened`);
    return file;
  }

  #link(from: string, to: string, isMoved: boolean): void {
    const file = this.#names.get(from);
    if (file === undefined) throw new Error(`${from} is no file`);
    this.#name(to, (names) => {
      names.set(to, file);
      // A rename is one step also on a disk that has not yet kept the creation of the old name.
      if (isMoved) names.delete(from);
    });
  }

  #name(path: string, apply: Naming['apply']): void {
    apply(this.#names);
    this.#pendingNames.push({ folder: dirname(path), apply });
  }

  #beginSync(inode: bigint, sync: string): void {
    const folder = this.#folders.get(inode);
    const of = this.#files.get(inode) ?? folder;
    if (of === undefined) throw new Error(`the inode ${inode} was synced and never opened`);
    const pending = typeof of === 'string' ? this.#pendingNames : of.pending;
    this.#syncs.set(sync, { of, pending: [...pending] });
  }

  #endSync(sync: string): void {
    const { of, pending } = this.#syncs.get(sync)!;
    this.#syncs.delete(sync);
    if (typeof of === 'string') {
      const synced = new Set((pending as Naming[]).filter(({ folder }) => folder === of));
      for (const each of this.#pendingNames) if (synced.has(each)) each.apply(this.#durableNames);
      this.#pendingNames = this.#pendingNames.filter((each) => !synced.has(each));
      return;
    }
    // Another sync of the file, which began before, may have ended meanwhile.
    const synced = new Set(pending as Change[]);
    const firstLater = of.pending.findIndex((each) => !synced.has(each));
    const count = firstLater === -1 ? of.pending.length : firstLater;
    of.durable = changed(of.durable, of.pending.splice(0, count));
  }
}

function imageOf(names: Names, bytesOf: (file: File) => Buffer): Image {
  const image = new Map<string, ImageFile | undefined>();
  const built = new Map<File, ImageFile>();
  for (const [path, file] of names) {
    if (file !== undefined && !built.has(file)) {
      built.set(file, { bytes: bytesOf(file), inode: file.inode, born: file.born });
    }
    image.set(path, file && built.get(file));
  }
  return image;
}

/** Returns the content of a file after a power cut. */
function survivorOf({ durable, pending }: File, fate: Fate, random: Random): Buffer {
  if (fate === 'none' || pending.length === 0) return durable;
  if (fate === 'all') return changed(durable, pending);
  const order = fate === 'reordered' ? random.shuffled(pending) : pending;
  // From nearly nothing to nearly everything.
  const share = random.next();
  const blockSize = { 'torn 512': 512, 'torn 4096': 4096 }[fate as string];
  const parts = order.flatMap((change) =>
    'length' in change || blockSize === undefined ? [change] : blocksOf(change, blockSize),
  );
  return changed(
    durable,
    parts.filter(() => random.chance(share)),
  );
}

/** Splits a write at the multiples of `size` in the file. */
function blocksOf({ at, bytes }: { at: number; bytes: Buffer }, size: number) {
  const blocks: { at: number; bytes: Buffer }[] = [];
  for (let from = at; from < at + bytes.length; ) {
    const to = Math.min((Math.floor(from / size) + 1) * size, at + bytes.length);
    blocks.push({ at: from, bytes: bytes.subarray(from - at, to - at) });
    from = to;
  }
  return blocks;
}

/** Returns `content` after some changes; bytes that were never written are 0. */
function changed(content: Buffer, changes: readonly Change[]): Buffer {
  if (changes.length === 0) return content;
  const ends = changes.map((each) =>
    'length' in each ? each.length : each.at + each.bytes.length,
  );
  const result = Buffer.alloc(Math.max(content.length, ...ends));
  content.copy(result);
  let length = content.length;
  for (const change of changes) {
    if ('length' in change) {
      if (change.length < length) result.fill(0, change.length, length);
      length = change.length;
    } else {
      change.bytes.copy(result, change.at);
      length = Math.max(length, change.at + change.bytes.length);
    }
  }
  return result.subarray(0, length);
}
