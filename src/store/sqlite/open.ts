import type { Command, OpenOptions, OutcomeOf, Store } from '../store.ts';
import { opening, storeError } from './connection.ts';
import { Reader } from './reader.ts';
import { WriterClient } from './writer-client.ts';

/**
 * How long a batch of commands may wait for another process that writes. It may have to wait behind
 * another batch before, so a client is answered within twice this: well below a second.
 */
const LOCK_WAIT_MS = 300;
const COMMAND_LOCK_WAIT_MS = 10_000;

/** The embedded engine: one file, one writer thread, readers that are never blocked. */
export async function openSqlite(path: string, { create, purpose }: OpenOptions): Promise<Store> {
  const givesId = purpose === 'service';
  const lockWaitMs = givesId ? LOCK_WAIT_MS : COMMAND_LOCK_WAIT_MS;
  const writer = await WriterClient.start({ path, create, lockWaitMs, givesId });
  let reader: Reader;
  try {
    reader = opening(path, () => new Reader(path));
  } catch (error) {
    await writer.close();
    throw error;
  }
  let closing: Promise<void> | undefined;
  return {
    apply: <C extends Command>(commands: readonly C[]) =>
      writer.apply(commands) as Promise<OutcomeOf<C>[]>,
    changes: (since, visit) => reading(() => reader.changes(since, visit)),
    find: (ids) => reading(() => reader.find(ids)),
    history: (id) => reading(() => reader.history(id)),
    scan: (visit) => reading(() => reader.scan(visit)),
    pet: (id) => reading(() => reader.pet(id)),
    keys: (digests) => reading(() => reader.keys(digests)),
    status: () => reading(() => reader.status()),
    close: () => {
      closing ??= close(reader, writer);
      return closing;
    },
  };
}

async function reading<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw storeError(error);
  }
}

/** The writer last: the last connection to close works the write-ahead log into the file. */
async function close(reader: Reader, writer: WriterClient): Promise<void> {
  await reader.close();
  await writer.close();
}
