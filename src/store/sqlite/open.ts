import { existsSync } from 'node:fs';
import {
  type Command,
  mayMigrate,
  type OpenOptions,
  type OutcomeOf,
  type Store,
  StoreNotUsable,
  StoreUnavailable,
} from '../store.ts';
import { openForReading, readableLocation } from './connection.ts';
import { opening, storeError } from './errors.ts';
import { Reader } from './reader.ts';
import { expectSchema, KNOWN_MIGRATIONS } from './schema.ts';
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
      path,
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
    if (!existsSync(path)) throw new StoreNotUsable('the database does not exist');
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
  return storeOf(path, reader, { apply, close: async () => {} });
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

function storeOf(
  path: string,
  reader: Reader,
  writer: Pick<WriterClient, 'apply' | 'close'>,
): Store {
  let closing: Promise<void> | undefined;
  let damage: StoreUnavailable | undefined;
  /** Once damage was met, nothing that the database says, or is told, can be relied on. */
  const using = async <T>(use: () => T | Promise<T>): Promise<T> => {
    if (damage !== undefined) throw damage;
    try {
      return await use();
    } catch (error) {
      const failure = storeError(path, error);
      if (failure instanceof StoreUnavailable && failure.fault === 'damaged') damage = failure;
      throw failure;
    }
  };
  return {
    engine: { name: 'sqlite', schema: KNOWN_MIGRATIONS },
    apply: <C extends Command>(commands: readonly C[]) =>
      using(() => writer.apply(commands) as Promise<OutcomeOf<C>[]>),
    changes: (since, visit) => using(() => reader.changes(since, visit)),
    find: (ids) => using(() => reader.find(ids)),
    history: (id) => using(() => reader.history(id)),
    scan: (visit, from) => using(() => reader.scan(visit, from)),
    pet: (id) => using(() => reader.pet(id)),
    keys: (digests) => using(() => reader.keys(digests)),
    status: () => using(() => reader.status()),
    close: () => {
      closing ??= close(reader, writer);
      return closing;
    },
  };
}

/** The writer last: the last connection to close works the write-ahead log into the file. */
async function close(reader: Reader, writer: Pick<WriterClient, 'close'>): Promise<void> {
  await reader.close();
  await writer.close();
}
