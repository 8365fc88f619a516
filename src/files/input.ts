import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  createWriteStream,
  fstatSync,
  mkdtempSync,
  openSync,
  read as readFromFile,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

/** Bytes read at a time. */
const CHUNK_BYTES = 256 * 1024;

/** A stream would close the file when its reader stops early. */
const readAt = promisify(readFromFile);

/** A file that can be read more than once and is the same each time. */
export interface Input {
  /** As the user called it, for messages. */
  readonly name: string;
  readonly size: number;
  /** SHA-256 of the content, hex. */
  readonly digest: string;
  /** @throws InputProblem as soon as the file is not what it was at first. */
  read(): AsyncGenerator<Buffer>;
  close(): void;
}

/** The input cannot be read, or not again; the message is for the operator. */
export class InputProblem extends Error {
  override readonly name = 'InputProblem';
}

/** Opens a file, or `stdin` as "-". What can be read only once is copied first. @throws InputProblem */
export async function openInput(name: string, stdin: Readable): Promise<Input> {
  try {
    if (name === '-') return await inputOf('standard input', await copyOf(stdin));
    const file = openSync(name, 'r');
    const stats = fstatSync(file);
    if (stats.isFile()) return await inputOf(name, file);
    if (stats.isDirectory()) throw new Error('it is a folder');
    return await inputOf(name, await copyOf(createReadStream(name, { fd: file })));
  } catch (error) {
    throw new InputProblem(`cannot read ${name}: ${(error as Error).message}`);
  }
}

/** A temporary file that is gone when it is closed, however the process ends. */
async function copyOf(source: Readable): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'store-orders-'));
  const file = openSync(join(folder, 'input'), 'wx+');
  try {
    rmSync(folder, { recursive: true });
  } catch {
    // Windows does not let go of a file that is open; there the folder is left to the system.
  }
  await pipeline(source, createWriteStream('', { fd: file, start: 0, autoClose: false }));
  return file;
}

async function inputOf(name: string, file: number): Promise<Input> {
  const first = fstatSync(file, { bigint: true });

  async function* read(): AsyncGenerator<Buffer> {
    for (let position = 0; ; ) {
      const buffer = Buffer.alloc(CHUNK_BYTES);
      const { bytesRead } = await readAt(file, buffer, 0, CHUNK_BYTES, position);
      const now = fstatSync(file, { bigint: true });
      if (now.size !== first.size || now.mtimeNs !== first.mtimeNs) {
        throw new InputProblem(`${name} was changed while it was read; what was imported stays`);
      }
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  const hash = createHash('sha256');
  for await (const chunk of read()) hash.update(chunk);
  return {
    name,
    size: Number(first.size),
    digest: hash.digest('hex'),
    read,
    close: () => closeSync(file),
  };
}
