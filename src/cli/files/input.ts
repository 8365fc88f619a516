import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
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
import { CommandFailed } from '../terminal/terminal.ts';

/** Bytes per read. */
const CHUNK_BYTES = 256 * 1024;

/** Used instead of a stream, which would close the file when its consumer stops early. */
const readAt = promisify(readFromFile);

/** A file that can be read several times with the same content. */
export interface Input extends Disposable {
  /** Name given by the user, for messages. */
  readonly name: string;
  readonly size: number;
  /** SHA-256 of the content, in hex. */
  readonly digest: string;
  /**
   * Reads the file from the beginning.
   * @throws InputProblem as soon as the file's size or modification time has changed
   */
  read(): AsyncGenerator<Buffer>;
  /** The share of it that the latest `read` has returned, 0 to 1; for progress. */
  readonly share: number;
}

/** Thrown if the input cannot be read, or was changed; the message is for the operator. */
export class InputProblem extends CommandFailed {}

/**
 * Opens a file, or `stdin` for "-". Input that can be read only once, such as a pipe, is copied to a temporary file.
 * @throws InputProblem
 */
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

/** Copies a stream to an unlinked temporary file, which is freed when it is closed, however the process ends. */
async function copyOf(source: Readable): Promise<number> {
  if (!existsSync(tmpdir())) throw new Error(`the folder ${tmpdir()} (TMPDIR) does not exist`);
  const folder = mkdtempSync(join(tmpdir(), 'store-orders-'));
  const file = openSync(join(folder, 'input'), 'wx+');
  try {
    rmSync(folder, { recursive: true });
  } catch {
    // Windows cannot remove an open file; there the temporary folder is left to the system.
  }
  await pipeline(source, createWriteStream('', { fd: file, start: 0, autoClose: false }));
  return file;
}

async function inputOf(name: string, file: number): Promise<Input> {
  const first = fstatSync(file, { bigint: true });
  const size = Number(first.size);
  let share = 0;

  async function* read(): AsyncGenerator<Buffer> {
    for (let position = 0; ; ) {
      const buffer = Buffer.alloc(CHUNK_BYTES);
      const { bytesRead } = await readAt(file, buffer, 0, CHUNK_BYTES, position);
      const now = fstatSync(file, { bigint: true });
      if (now.size !== first.size || now.mtimeNs !== first.mtimeNs) {
        throw new InputProblem(
          `${name} was changed while it was read; rows imported so far are kept`,
        );
      }
      if (bytesRead === 0) return;
      position += bytesRead;
      share = position / size;
      yield buffer.subarray(0, bytesRead);
    }
  }

  const hash = createHash('sha256');
  for await (const chunk of read()) hash.update(chunk);
  return {
    name,
    size,
    digest: hash.digest('hex'),
    read,
    get share() {
      return share;
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}
