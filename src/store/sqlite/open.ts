import { existsSync } from 'node:fs';
import {
  type Command,
  mayMigrate,
  type OpenOptions,
  type OutcomeOf,
  type Store,
  StoreNotUsable,
} from '../store.ts';
import { openForReading, opening, readableLocation, storeError } from './connection.ts';
import { Reader } from './reader.ts';
import { expectSchema } from './schema.ts';
import { WriterClient } from './writer-client.ts';

/**
 * How long a batch of commands may wait for another process that writes. It may have to wait behind
 * another batch before, so a client is answered within twice this: well below a second.
 */
const LOCK_WAIT_MS = 300;
const COMMAND_LOCK_WAIT_MS = 10_000;

/** The embedded engine: one file, one writer thread, readers that are never blocked. */
export async function openSqlite(path: string, options: OpenOptions): Promise<Store> {
  if (options.purpose === 'read') return openReadOnly(path);
  const writer = await startWriter(path, options);
  try {
    return storeOf(
      opening(path, () => new Reader(path)),
      writer,
    );
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/** Without a writer, for a file or a disk that may not be written. @throws StoreNotUsable */
function openReadOnly(path: string): Store {
  const reader = opening(path, () => {
    if (!existsSync(path)) throw new StoreNotUsable('there is no such database');
    const location = readableLocation(path);
    const db = openForReading(location, false);
    try {
      expectSchema(db);
    } finally {
      db.close();
    }
    return new Reader(location);
  });
  const apply = async () => {
    throw new Error('the store was opened for reading only');
  };
  return storeOf(reader, { apply, close: async () => {} });
}

async function startWriter(path: string, options: OpenOptions): Promise<WriterClient> {
  const { create, purpose, onMigrated } = options;
  const isService = purpose === 'service';
  const { writer, migrated } = await WriterClient.start({
    path,
    create,
    lockWaitMs: isService ? LOCK_WAIT_MS : COMMAND_LOCK_WAIT_MS,
    givesId: isService,
    mayMigrate: mayMigrate(purpose),
  });
  if (migrated !== undefined) onMigrated?.(migrated.from, migrated.to);
  return writer;
}

function storeOf(reader: Reader, writer: Pick<WriterClient, 'apply' | 'close'>): Store {
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
async function close(reader: Reader, writer: Pick<WriterClient, 'close'>): Promise<void> {
  await reader.close();
  await writer.close();
}
