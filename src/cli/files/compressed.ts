import { closeSync, openSync, readSync } from 'node:fs';

/** A compressed format, with the command that writes the decompressed content of a file to stdout. */
interface Compression {
  readonly name: string;
  readonly command: string;
}

/** The first bytes of compressed files, as file(1) knows them. */
const FORMATS: readonly (Compression & { readonly magic: Buffer })[] = [
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
export function compressionOf(head: Buffer): Compression | undefined {
  return FORMATS.find(({ magic }) => head.subarray(0, magic.length).equals(magic));
}

/** Returns how a file is compressed; undefined if it is not, or cannot be read. */
export function compressionOfFile(path: string): Compression | undefined {
  const head = Buffer.alloc(LONGEST_MAGIC);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, head);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
  return compressionOf(head);
}
