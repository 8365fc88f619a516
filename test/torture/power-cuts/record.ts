import { readFileSync } from 'node:fs';

/** What the shim recorded, in the order in which it happened. Inodes are those of the file system. */
export type Entry =
  | {
      readonly kind: 'opened';
      readonly inode: bigint;
      readonly path: string;
      readonly born: bigint;
    }
  | { readonly kind: 'folder opened'; readonly inode: bigint; readonly path: string }
  | {
      readonly kind: 'written';
      readonly inode: bigint;
      readonly at: number;
      readonly bytes: Buffer;
    }
  | { readonly kind: 'truncated'; readonly inode: bigint; readonly length: number }
  /** `sync` is the number of the sync in its process. */
  | { readonly kind: 'sync begun' | 'sync done'; readonly inode: bigint; readonly sync: string }
  | { readonly kind: 'renamed' | 'linked'; readonly from: string; readonly to: string }
  | { readonly kind: 'unlinked' | 'folder made' | 'folder removed'; readonly path: string }
  /** Bytes that were sent on a connection, or printed. */
  | { readonly kind: 'sent'; readonly connection: string; readonly bytes: Buffer }
  | { readonly kind: 'exited'; readonly pid: number; readonly status: number };

/** Bytes of `struct entry` in shim.c. */
const HEAD = 48;

const KINDS = [
  'opened',
  'folder opened',
  'written',
  'truncated',
  'sync begun',
  'sync done',
  'renamed',
  'linked',
  'unlinked',
  'folder made',
  'folder removed',
  'sent',
  'exited',
] as const;

/** Reads a record of the shim. @throws Error if it is not one */
export function readRecord(path: string): Entry[] {
  const all = readFileSync(path);
  const entries: Entry[] = [];
  for (let at = 0; at < all.length; ) {
    const size = all.readUInt32LE(at);
    const bytes = all.subarray(at + HEAD, at + HEAD + size);
    if (bytes.length !== size) throw new Error('the record is cut off');
    entries.push(entryOf(all.subarray(at, at + HEAD), bytes));
    at += HEAD + size;
  }
  return entries;
}

function entryOf(head: Buffer, bytes: Buffer): Entry {
  const kind = KINDS[head.readUInt32LE(4) - 1];
  const pid = head.readUInt32LE(8);
  const inode = head.readBigUInt64LE(16);
  const value = Number(head.readBigInt64LE(24));
  switch (kind) {
    case undefined:
      throw new Error('the record has an entry of an unknown kind');
    case 'opened':
      return { kind, inode, path: bytes.toString(), born: head.readBigInt64LE(32) };
    case 'folder opened':
      return { kind, inode, path: bytes.toString() };
    case 'written':
      return { kind, inode, at: value, bytes };
    case 'truncated':
      return { kind, inode, length: value };
    case 'sync begun':
    case 'sync done':
      return { kind, inode, sync: `${pid}:${value}` };
    case 'renamed':
    case 'linked': {
      const [from, to] = bytes.toString().split('\0');
      return { kind, from: from!, to: to! };
    }
    case 'sent':
      return { kind, connection: `${pid}:${inode}`, bytes };
    case 'exited':
      return { kind, pid, status: value };
    default:
      return { kind, path: bytes.toString() };
  }
}
