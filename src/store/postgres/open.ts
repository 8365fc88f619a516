import {
  mayMigrate,
  type OpenOptions,
  type OutcomeOf,
  type Store,
  type StoreCommand,
} from '../store.ts';
import { isPostgresUrl, parseAddress } from './address.ts';
import { Connection, newSession } from './connection.ts';
import { Origin } from './origin.ts';
import { Reader, scan } from './reader.ts';
import { hasSchema, KNOWN_MIGRATIONS, migrate } from './schema.ts';
import { present, readStatus } from './store-row.ts';
import { BULK, PATIENT, SERVICE, SERVICE_WRITES, type TimeLimits } from './time-limits.ts';
import { Writer } from './writer.ts';

/**
 * Opens the engine for several nodes: three connections, each reestablished when it is lost.
 * @throws StoreUnavailable, StoreNotUsable
 */
export async function openPostgres(url: string, options: OpenOptions): Promise<Store> {
  const currentUrl = () => {
    const now = options.currentUrl?.() ?? url;
    return isPostgresUrl(now) ? now : url;
  };
  const session = await newSession(currentUrl(), BULK, async (each) => {
    const { create, purpose, onMigrated } = options;
    const migrated = await migrate(each, { create, update: mayMigrate(purpose) });
    if (migrated !== undefined) onMigrated?.(migrated.from, migrated.to);
    present(await readStatus(each));
  });
  await session.end();
  const isService = options.purpose === 'service';
  const origin = new Origin();
  const connect = (limits: TimeLimits) =>
    new Connection(() => parseAddress(currentUrl()), limits, {
      welcome: (session) => origin.confirm(session),
      onConnection: options.onConnection,
    });
  const reading = connect(isService ? SERVICE : PATIENT);
  const changing = connect(isService ? SERVICE : PATIENT);
  const writing = connect(isService ? SERVICE_WRITES : PATIENT);
  const reader = new Reader(reading, changing);
  const writer = new Writer(writing);
  let closing: Promise<unknown> | undefined;
  return {
    engine: { name: 'postgresql', schema: KNOWN_MIGRATIONS },
    apply: <C extends StoreCommand>(commands: readonly C[]) =>
      writer.apply(commands) as Promise<OutcomeOf<C>[]>,
    changes: (since, visit) => reader.changes(since, visit),
    find: (ids) => reader.find(ids),
    history: (id) => reader.history(id),
    scan: async (visit, from) => {
      const session = await newSession(currentUrl(), BULK);
      try {
        await scan(session, visit, from);
      } finally {
        session.destroy();
      }
    },
    pet: (id) => reader.pet(id),
    keys: (digests) => reader.keys(digests),
    status: () => reader.status(),
    close: async () => {
      closing ??= close(reader, writer, [reading, changing, writing]);
      await closing;
    },
  };
}

async function close(reader: Reader, writer: Writer, connections: readonly Connection[]) {
  await Promise.all([reader.idle(), writer.idle()]);
  await Promise.all(connections.map((connection) => connection.close()));
}

/**
 * Returns whether there is a store at `url`.
 * @throws StoreUnavailable, StoreNotUsable
 */
export async function postgresStoreExists(url: string): Promise<boolean> {
  const session = await newSession(url, PATIENT);
  try {
    return await hasSchema(session);
  } finally {
    session.destroy();
  }
}
