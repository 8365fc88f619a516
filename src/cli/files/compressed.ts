import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';

/** Compressed formats: the command that writes the decompressed content of a file to stdout, and the first bytes, as file(1) knows them. */
const FORMATS = [
  { name: 'gzip', command: 'gzip -dc', magic: Buffer.from('1f8b', 'hex') },
  { name: 'Zstandard', command: 'zstd -dc', magic: Buffer.from('28b52ffd', 'hex') },
  { name: 'bzip2', command: 'bzip2 -dc', magic: Buffer.from('BZh') },
  { name: 'lz4', command: 'lz4 -dc', magic: Buffer.from('04224d18', 'hex') },
  { name: 'compress', command: 'uncompress -c', magic: Buffer.from('1f9d', 'hex') },
  { name: '7-Zip', command: '7z x -so', magic: Buffer.from('377abcaf271c', 'hex') },
  { name: 'xz', command: 'xz -dc', magic: Buffer.from('fd377a585a00', 'hex') },
];

const LONGEST_MAGIC = 6;

/** Returns how a file that begins with `head` is compressed; undefined if it is not. */
export function compressionOf(head: Buffer) {
  return FORMATS.find(({ magic }) => head.subarray(0, magic.length).equals(magic));
}

/** Returns how a file is compressed; undefined if it is not, or cannot be read. */
export async function compressionOfFile(path: string) {
  const head = buffer(createReadStream(path, { end: LONGEST_MAGIC - 1 }));
  return compressionOf(await head.catch(() => Buffer.alloc(0)));
}
