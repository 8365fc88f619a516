import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Bytes read at a time. */
const CHUNK_BYTES = 256 * 1024;

/** A file that can be read more than once and is the same each time. */
export interface Input {
  /** As the user called it, for messages. */
  readonly name: string;
  readonly size: number;
  /** @throws InputChanged when the file is not what it was at first. */
  read(): AsyncGenerator<Buffer>;
  /** SHA-256 of the content, hex; known once it was read to its end. */
  digest(): string;
  /** Removes what was made for it. */
  close(): Promise<void>;
}

export class InputProblem extends Error {
  override readonly name = 'InputProblem';
}

/** Opens a file, or standard input as "-". What can be read only once is copied first. */
export async function openInput(name: string): Promise<Input> {
  if (name !== '-' && stats(name).isFile()) return inputOf(name, name, async () => {});
  const folder = await mkdtemp(join(tmpdir(), 'store-orders-'));
  const path = join(folder, 'input');
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const source = name === '-' ? process.stdin : createReadStream(name);
    await pipeline(source, createWriteStream(path));
    return inputOf(name === '-' ? 'standard input' : name, path, remove);
  } catch (error) {
    await remove();
    throw new InputProblem(`cannot read ${name}: ${(error as Error).message}`);
  }
}

function stats(path: string) {
  try {
    return statSync(path, { bigint: true });
  } catch (error) {
    throw new InputProblem(`cannot read ${path}: ${(error as Error).message}`);
  }
}

function inputOf(name: string, path: string, close: () => Promise<void>): Input {
  const first = stats(path);
  if (first.isDirectory()) throw new InputProblem(`cannot read ${path}: it is a folder`);
  let digest: string | undefined;

  async function* read(): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
      hash.update(chunk);
      yield chunk;
    }
    const read = hash.digest('hex');
    const now = stats(path);
    if ((digest ?? read) !== read || now.size !== first.size || now.mtimeNs !== first.mtimeNs) {
      throw new InputProblem(`${name} was changed while it was read`);
    }
    digest = read;
  }

  return {
    name,
    size: Number(first.size),
    read,
    digest: () => {
      if (digest === undefined) throw new Error('the input has not been read yet');
      return digest;
    },
    close,
  };
}
