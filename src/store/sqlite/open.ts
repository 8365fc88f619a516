import { realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Mutex } from '../../concurrency.ts';
import type { OutcomeOf, StoreCommand } from '../commands.ts';
import type { OpenOptions } from '../open-options.ts';
import type { Store, StoreSizes } from '../store.ts';
import { readPositionBefore } from '../tables/feed.ts';
import { idsOf } from '../tables/orders.ts';
import { historyOf, readsOf } from '../tables/reads.ts';
import { requireStoreRow } from '../tables/store-row.ts';
import { readWebhookLags } from '../tables/webhooks.ts';
import { countActivity } from './activity.ts';
import {
  type Location,
  openForReading,
  readableLocation,
  readDatabase,
} from './database/connection.ts';
import { withOpenErrors } from './database/errors.ts';
import { expectSchema, MIGRATIONS } from './database/schema.ts';
import { Session } from './database/session.ts';
import { expectServed } from './database/transaction.ts';
import { readFeed } from './feed.ts';
import { backupBeforeMigration } from './maintenance/backup-before-migration.ts';
import { countMatching, readOrders, readPage } from './pages.ts';
import { readChangedOrders, scanOrders } from './scan.ts';
import { Turns } from './turns.ts';
import { usabilityOf } from './usability.ts';
import { startWriter } from './writer-client.ts';

/** Opens the embedded engine: one file, one writer thread, readers that are never blocked. */
export async function openSqlite(path: string, options: OpenOptions): Promise<Store> {
  if (options.purpose === 'read') return openReadOnly(path);
  if (options.purpose === 'service') await backupBeforeMigration(path, options);
  const usability = usabilityOf(path, () => writer.isSound());
  const writer = await startWriter(path, options, (error) => usability.end(error));
  try {
    const reading = withOpenErrors(path, () => openReading(path));
    return storeOf(path, reading, writer, usability);
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/** Opens a store without a writer, for a read-only file or disk. */
function openReadOnly(path: string): Store {
  const reading = withOpenErrors(path, () => {
    const location = readableLocation(path);
    readDatabase(location, expectSchema);
    return openReading(location);
  });
  const apply = async () => {
    throw new Error('the store was opened for reading only');
  };
  const usability = usabilityOf(path, async () => false);
  return storeOf(path, reading, { apply, close: async () => {} }, usability);
}

/**
 * Opens the connections for reading, and a session for lists. Reads run on the caller's thread: they wait for no lock and mostly find their pages in
 * memory, so handing them to another thread would cost more than most reads.
 */
function openReading(location: Location) {
  const openSession = () => new Session(openForReading(location));
  const session = openSession();
  try {
    requireStoreRow(session.query('SELECT 1 FROM store')[0]);
    return { openSession, session, listing: openSession(), turns: new Turns() };
  } catch (error) {
    session.close();
    throw error;
  }
}

function storeOf(
  path: string,
  reading: ReturnType<typeof openReading>,
  writer: Pick<Awaited<ReturnType<typeof startWriter>>, 'apply' | 'close'>,
  { guard: guarded, close: endReads }: ReturnType<typeof usabilityOf>,
): Store {
  const { session, listing, turns } = reading;
  /** A connection has one snapshot at a time. */
  const snapshots = new Mutex();
  let closing: Promise<void> | undefined;
  const read = <T>(use: (session: Session) => Promise<T>) => guarded(() => use(session));
  /** What the guard excludes, a moved or migrated store, does not change any more, so the read is current. */
  const served = <T>(use: (session: Session) => Promise<T>) =>
    read((each) => {
      expectServed(each);
      return use(each);
    });
  /** Closes the writer last: the last connection to close checkpoints the write-ahead log. */
  const closeAll = async () => {
    await endReads();
    listing.close();
    session.close();
    await writer.close();
  };
  const close = () => (closing ??= closeAll());
  return {
    engine: { name: 'sqlite', schema: MIGRATIONS.length },
    history: historyOf(read, (visit, at) => guarded(() => scanOrders(reading, visit, at))),
    ...readsOf(read, served),
    apply: <C extends StoreCommand>(commands: readonly C[]) =>
      guarded(() => writer.apply(commands) as Promise<OutcomeOf<C>[]>),
    changedOrders: (since, visit) =>
      guarded(() => snapshots.run(() => readChangedOrders(listing, since, visit))),
    orders: (ids, options) => guarded(() => readOrders(reading, ids, options)),
    idsOf: (references) => guarded(() => idsOf(session, references)),
    page: (query) => guarded(() => readPage(reading, query)),
    count: (filter) => guarded(() => countMatching(reading, filter)),
    feed: (after, limit) => guarded(() => turns.run(() => readFeed(session, after, limit))),
    positionBefore: (time) => guarded(() => readPositionBefore(session, time)),
    activity: (query) => guarded(() => countActivity(reading, query)),
    webhookLags: (revisions) => guarded(() => turns.run(() => readWebhookLags(session, revisions))),
    sizes: () => guarded(() => sizesOf(path)),
    connected: () => guarded(() => {}),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Returns the sizes of the database at `path`. @throws errors of the file system */
function sizesOf(path: string): StoreSizes {
  const file = realpathSync(path);
  const { bavail, bsize } = statfsSync(dirname(file));
  return {
    database: statSync(file).size,
    log: statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    free: bavail * bsize,
  };
}
