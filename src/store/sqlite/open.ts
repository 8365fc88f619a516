import {
  mayMigrate,
  type OpenOptions,
  type OutcomeOf,
  type Store,
  type StoreCommand,
  StoreUnavailable,
} from '../store.ts';
import { readableLocation, readDatabase } from './connection.ts';
import { storeError, withOpenErrors } from './errors.ts';
import { Reader } from './reader.ts';
import { expectSchema, KNOWN_MIGRATIONS } from './schema.ts';
import { WriterClient } from './writer-client.ts';

/**
 * Limit for how long a batch of commands waits for another process's write lock. A batch may first have to wait for
 * the one before, so a client is answered within twice this, well below a second.
 */
const LOCK_WAIT_MS = 300;
const COMMAND_LOCK_WAIT_MS = 10_000;

/**
 * Opens the embedded engine: one file, one writer thread, readers that are never blocked.
 * @throws StoreNotUsable
 */
export async function openSqlite(path: string, options: OpenOptions): Promise<Store> {
  if (options.purpose === 'read') return openReadOnly(path);
  const writer = await startWriter(path, options);
  try {
    return storeOf(
      path,
      withOpenErrors(path, () => new Reader(path)),
      writer,
    );
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/**
 * Opens a store without a writer, for a read-only file or disk.
 * @throws StoreNotUsable
 */
function openReadOnly(path: string): Store {
  const reader = withOpenErrors(path, () => {
    const location = readableLocation(path);
    readDatabase(location, expectSchema);
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
  /**
   * Runs `use`. Once corruption was detected, every later operation fails: reads and writes are no longer reliable.
   */
  const guarded = async <T>(use: () => T | Promise<T>): Promise<T> => {
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
    apply: <C extends StoreCommand>(commands: readonly C[]) =>
      guarded(() => writer.apply(commands) as Promise<OutcomeOf<C>[]>),
    changes: (since, visit) => guarded(() => reader.changes(since, visit)),
    find: (ids) => guarded(() => reader.find(ids)),
    history: (id) => guarded(() => reader.history(id)),
    scan: (visit, from) => guarded(() => reader.scan(visit, from)),
    pet: (id) => guarded(() => reader.pet(id)),
    keys: (digests) => guarded(() => reader.keys(digests)),
    status: () => guarded(() => reader.status()),
    close: () => {
      closing ??= close(reader, writer);
      return closing;
    },
  };
}

/** Closes the writer last: the last connection to close checkpoints the write-ahead log. */
async function close(reader: Reader, writer: Pick<WriterClient, 'close'>): Promise<void> {
  await reader.close();
  await writer.close();
}
